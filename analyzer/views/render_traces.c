/* SPDX-License-Identifier: MIT */
/*
 * render_traces.c - every stack, leaf first, with its value and the size of its blocks, the
 * heaviest stack first.
 */
#include "render_formats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "functions.h"
#include "hi_units.h"
#include "render_header.h"
#include "style.h"

#define SEPARATOR "-----------+-------------------------------------------------------"

struct trace {
	uint32_t row;
	double value;
};
struct traces {
	const struct profile *profile;
	struct functions functions;
	enum sample_type type;
	bool is_comparison;
};

static int compare_traces(const void *left, const void *right)
{
	const struct trace *a = left, *b = right;

	if (fabs(a->value) != fabs(b->value))
		return fabs(a->value) > fabs(b->value) ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static void print_separator(FILE *out)
{
	style_print(STYLE_DIM, out, "%s", SEPARATOR);
	fputc('\n', out);
}

/* Prints a call. The first call of a stack has the value before it. */
static void print_call(const char *value, enum style style, const char *name, const char *remark,
		       FILE *out)
{
	style_print(style, out, "%10s", value);
	fprintf(out, "   %s%s\n", name, remark);
}

static void print_trace(const struct traces *traces, const struct trace *trace, FILE *out)
{
	const enum style style = style_of_change(trace->value, traces->is_comparison);
	const struct profile_row *row = &traces->profile->row[trace->row];
	const struct functions *functions = &traces->functions;
	char value[HI_UNITS_TEXT_MAX];
	size_t count;
	const uint32_t *calls =
		functions_unfold(functions, &traces->profile->stack[row->key.stack], &count);

	print_separator(out);
	if (row->alloc_count)
		fprintf(out, "%10s:  %s\n", "bytes",
			hi_format_bytes((double)(row->alloc_bytes / row->alloc_count), value,
					sizeof(value)));
	render_value(trace->value, traces->type, value);
	for (size_t i = 0; i < count; i++) {
		const struct function_call *call = &functions->call[calls[i]];

		print_call(i ? "" : value, i ? STYLE_PLAIN : style, functions->name[call->function],
			   call->is_inline ? " (inline)" : "", out);
	}
	if (!count)
		print_call(value, style, "<unknown>", "", out);
}

int render_traces(const struct profile *profile, const struct render_options *options, FILE *out)
{
	struct trace *trace = malloc((profile->row_count + 1) * sizeof(*trace));
	struct traces traces = {.profile = profile,
				.type = options->type,
				.is_comparison = profile_is_comparison(profile)};
	size_t count = 0;
	const int err = trace ? functions_open(profile, &traces.functions) : -ENOMEM;

	for (size_t i = 0; i < profile->row_count && !err; i++) {
		trace[count] = (struct trace){
			(uint32_t)i, estimate_of(profile, &profile->row[i], options->type).value};
		count += llround(trace[count].value) != 0;
	}
	if (!err) {
		const struct estimate total = estimate_total(profile, options->type);

		qsort(trace, count, sizeof(*trace), compare_traces);
		render_header(profile, options->type, &total, out);
		for (size_t i = 0; i < count && (!options->limit || i < options->limit); i++)
			print_trace(&traces, &trace[i], out);
		print_separator(out);
	}
	free(trace);
	functions_close(&traces.functions);
	return render_result(err, out);
}
