/* SPDX-License-Identifier: MIT */
/* stack_columns.c - see stack_columns.h. */
#include "stack_columns.h"

#include <stdlib.h>
#include <string.h>

#include "render_header.h"

#define COLUMNS 100u
#define INDENT "    "
#define CALLED_BY " < "

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

void stack_columns_wrap(const struct stack_text *text, uint32_t stack, FILE *out)
{
	char *line = NULL, *call, *rest;
	size_t size, column = 0;
	FILE *copy = open_memstream(&line, &size);

	if (!copy)
		return;
	stack_text_print(text, stack, copy);
	if (fclose(copy)) {
		free(line);
		return;
	}
	for (call = line; call; call = rest) {
		rest = strstr(call, CALLED_BY);
		if (rest) {
			*rest = 0;
			rest += strlen(CALLED_BY);
		}
		const size_t length = strlen(call);
		const bool is_new = !column || column + strlen(CALLED_BY) + length > COLUMNS;

		fprintf(out, "%s%s%s", is_new && column ? "\n" : "",
			!column  ? INDENT
			: is_new ? INDENT "< "
				 : CALLED_BY,
			call);
		column =
			is_new ? strlen(INDENT "< ") + length : column + strlen(CALLED_BY) + length;
	}
	fputc('\n', out);
	free(line);
}

void stack_columns_rest(size_t count, size_t shown, FILE *out)
{
	if (count > shown)
		fprintf(out, "and %zu more stacks (-n %zu shows them)\n", count - shown, count);
}
