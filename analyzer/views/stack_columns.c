/* SPDX-License-Identifier: MIT */
/* stack_columns.c - see stack_columns.h. */
#include "stack_columns.h"

#include "render_header.h"

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
