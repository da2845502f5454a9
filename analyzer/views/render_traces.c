/* SPDX-License-Identifier: MIT */
/*
 * render_traces.c - every stack as it is, leaf first, with what it holds and the size of its blocks, the heaviest first.
 */
#include "render_formats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "functions.h"
#include "hi_units.h"
#include "render_header.h"

#define SEPARATOR "-----------+-------------------------------------------------------\n"

struct trace {
	uint32_t row;
	double value;
};

static int compare_traces(const void *left, const void *right)
{
	const struct trace *a = left, *b = right;

	if (fabs(a->value) != fabs(b->value))
		return fabs(a->value) > fabs(b->value) ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static void print_trace(const struct profile *profile, const struct functions *functions, const struct trace *trace, enum sample_type type, FILE *out)
{
	const struct profile_row *row = &profile->row[trace->row];
	char value[HI_UNITS_TEXT_MAX];
	size_t count;
	const uint32_t *calls = functions_unfold(functions, &profile->stack[row->key.stack], &count);

	fputs(SEPARATOR, out);
	if (row->alloc_count)
		fprintf(out, "%10s:  %s\n", "bytes", hi_format_bytes((double)(row->alloc_bytes / row->alloc_count), value, sizeof(value)));
	render_value(trace->value, type, value);
	for (size_t i = 0; i < count; i++) {
		const struct function_call *call = &functions->call[calls[i]];

		fprintf(out, "%10s   %s%s\n", i ? "" : value, functions->name[call->function], call->is_inline ? " (inline)" : "");
	}
	if (!count)
		fprintf(out, "%10s   %s\n", value, "<unknown>");
}

int render_traces(const struct profile *profile, const struct render_options *options, FILE *out)
{
	struct trace *trace = malloc((profile->row_count + 1) * sizeof(*trace));
	struct functions functions = {0};
	size_t count = 0;
	const int error = trace ? functions_open(profile, &functions) : -ENOMEM;

	for (size_t i = 0; i < profile->row_count && !error; i++) {
		trace[count] = (struct trace){(uint32_t)i, estimate_of(profile, &profile->row[i], options->type).value};
		count += llround(trace[count].value) != 0;
	}
	if (!error) {
		const struct estimate total = estimate_total(profile, options->type);

		qsort(trace, count, sizeof(*trace), compare_traces);
		render_header(profile, options->type, &total, out);
		for (size_t i = 0; i < count && (!options->limit || i < options->limit); i++)
			print_trace(profile, &functions, &trace[i], options->type, out);
		fputs(SEPARATOR, out);
	}
	free(trace);
	functions_close(&functions);
	return render_result(error, out);
}
