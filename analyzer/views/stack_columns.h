/* SPDX-License-Identifier: MIT */
/*
 * stack_columns.h - columns common to the views that have a line for each stack. Functions with
 * `text` write into it and return it; it has room for at least HI_UNITS_TEXT_MAX bytes.
 */
#ifndef HI_STACK_COLUMNS_H
#define HI_STACK_COLUMNS_H

#include "render.h"
#include "stack_text.h"

#define STACK_COLUMNS_LINES 20u /* default number of lines */

/* Half the width of the 95 % interval: "12.3kB". */
char *stack_column_error(const struct estimate *estimate, enum sample_type type, char *text);
/*
 * Prints the stack at the end of a line and the end of the line. With options->details all calls
 * follow on lines of their own.
 */
void stack_column_stack(const struct stack_text *text, uint32_t stack,
			const struct render_options *options, FILE *out);
/* Prints the stack on as many lines of 100 columns as it needs, broken between calls. */
void stack_columns_wrap(const struct stack_text *text, uint32_t stack, FILE *out);
/* Prints how many lines were left out, if any. */
void stack_columns_rest(size_t count, size_t shown, FILE *out);

#endif
