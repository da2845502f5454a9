/* SPDX-License-Identifier: MIT */
/* stack_columns.h - what the views that have a line for each stack print alike. Each returns text, of at least HI_UNITS_TEXT_MAX bytes. */
#ifndef HI_STACK_COLUMNS_H
#define HI_STACK_COLUMNS_H

#include "render.h"
#include "stack_text.h"

#define STACK_COLUMNS_LINES 20u /* that are shown where no number was asked for */

/* "350us", "1.20ms", "3.40s", "5m12s". */
char *stack_column_time(double ns, char *text);
/* Of an interval of 95 %, half its width: "12.3kB". */
char *stack_column_error(const struct estimate *estimate, enum sample_type type, char *text);
/* The stack at the end of a line, and the line's end; all of it below where details are asked for. */
void stack_column_stack(const struct stack_text *text, uint32_t stack, const struct render_options *options, FILE *out);
/* How many lines were left out, if any were. */
void stack_columns_rest(size_t count, size_t shown, FILE *out);

#endif
