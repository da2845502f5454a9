/* SPDX-License-Identifier: MIT */
/* stack_columns.c - see stack_columns.h. */
#include "stack_columns.h"

#include <math.h>

#include "hi_units.h"
#include "render_header.h"

char *stack_column_time(double ns, char *text)
{
	if (ns < 1e6)
		snprintf(text, HI_UNITS_TEXT_MAX, "%.0fus", ns / 1e3);
	else if (ns < 1e9)
		snprintf(text, HI_UNITS_TEXT_MAX, "%.2fms", ns / 1e6);
	else if (ns < 60e9)
		snprintf(text, HI_UNITS_TEXT_MAX, "%.2fs", ns / 1e9);
	else
		hi_format_duration((uint64_t)fmin(ns / 1e9, 1e12), text, HI_UNITS_TEXT_MAX);
	return text;
}

char *stack_column_error(const struct estimate *estimate, enum sample_type type, char *text)
{
	double low, high;

	estimate_interval(estimate, &low, &high);
	return render_value((high - low) / 2, type, text);
}

void stack_column_stack(const struct stack_text *text, uint32_t stack,
			const struct render_options *options, FILE *out)
{
	stack_text_print(text, stack, out);
	fputc('\n', out);
	if (options->details)
		stack_text_print_all(text, stack, "        ", out);
}

void stack_columns_rest(size_t count, size_t shown, FILE *out)
{
	if (count > shown)
		fprintf(out, "and %zu more stacks (-n %zu shows them)\n", count - shown, count);
}
