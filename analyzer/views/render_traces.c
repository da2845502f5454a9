/* SPDX-License-Identifier: MIT */
/*
 * render_traces.c - every stack, leaf first, with its value and the sizes of its blocks, the
 * heaviest stack first. Stacks that are printed alike are one.
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

/* The rows whose stacks have the same names. */
struct trace {
	uint32_t stack; /* the first of them */
	uint64_t hash;
	double value, divisor;      /* as in callgraph.h */
	uint64_t smallest, largest; /* bytes of a block */
};
struct traces {
	const struct profile *profile;
	struct functions functions;
	enum sample_type type;
	bool is_comparison;
	struct trace *trace;
	size_t count;
	struct table by_hash;
};

static int compare_traces(const void *left, const void *right)
{
	const struct trace *a = left, *b = right;

	if (fabs(a->value) != fabs(b->value))
		return fabs(a->value) > fabs(b->value) ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static uint64_t hash_names(const struct traces *traces, uint32_t stack)
{
	uint64_t hash = 1;
	size_t count;
	const uint32_t *calls =
		functions_unfold(&traces->functions, &traces->profile->stack[stack], &count);

	for (size_t i = 0; i < count; i++) {
		const struct function_call *call = &traces->functions.call[calls[i]];

		hash = hash_number(hash ^ ((uint64_t)call->function << 1 | call->is_inline));
	}
	return hash;
}

/* The trace of the stack; a new one if it is the first with these names. NULL = out of memory. */
static struct trace *trace_of(struct traces *traces, uint32_t stack)
{
	const uint64_t hash = hash_names(traces, stack);
	struct table_cursor cursor = table_seek(&traces->by_hash, hash);
	uint32_t index;

	while (table_next(&traces->by_hash, &cursor, &index)) {
		if (traces->trace[index].hash == hash)
			return &traces->trace[index];
	}
	if (table_add(&traces->by_hash, hash, (uint32_t)traces->count))
		return NULL;
	traces->trace[traces->count] =
		(struct trace){.stack = stack, .hash = hash, .smallest = UINT64_MAX};
	return &traces->trace[traces->count++];
}

/* trace[] has room for as many as there are rows. */
static int sum_traces(struct traces *traces)
{
	const bool is_mean = traces->profile->meta.is_mean;
	const enum sample_type first = estimate_first_type(traces->profile);

	for (size_t i = 0; i < traces->profile->row_count; i++) {
		const struct profile_row *row = &traces->profile->row[i];
		const double value = estimate_of(traces->profile, row, traces->type).value,
			     divisor = is_mean ? estimate_of(traces->profile, row, first).value : 0;
		const uint64_t bytes = profile_block_bytes(row);
		struct trace *trace = value != 0 ? trace_of(traces, row->key.stack) : NULL;

		if (value != 0 && !trace)
			return -ENOMEM;
		if (!trace)
			continue;
		trace->value += value;
		trace->divisor += divisor;
		trace->smallest = bytes < trace->smallest ? bytes : trace->smallest;
		trace->largest = bytes > trace->largest ? bytes : trace->largest;
	}
	return 0;
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

static void print_sizes(const struct trace *trace, FILE *out)
{
	char smallest[HI_UNITS_TEXT_MAX], largest[HI_UNITS_TEXT_MAX];

	if (!trace->largest)
		return;
	hi_format_bytes((double)trace->smallest, smallest, sizeof(smallest));
	hi_format_bytes((double)trace->largest, largest, sizeof(largest));
	fprintf(out, "%10s:  %s%s%s\n", "bytes", smallest,
		trace->largest > trace->smallest ? " .. " : "",
		trace->largest > trace->smallest ? largest : "");
}

static void print_trace(const struct traces *traces, const struct trace *trace, FILE *out)
{
	const enum style style = style_of_change(trace->value, traces->is_comparison);
	const struct functions *functions = &traces->functions;
	char value[HI_UNITS_TEXT_MAX];
	size_t count;
	const uint32_t *calls =
		functions_unfold(functions, &traces->profile->stack[trace->stack], &count);

	print_separator(out);
	print_sizes(trace, out);
	render_value(estimate_mean(trace->value, trace->divisor), traces->type, value);
	for (size_t i = 0; i < count; i++) {
		const struct function_call *call = &functions->call[calls[i]];

		print_call(i ? "" : value, i ? STYLE_PLAIN : style, functions->name[call->function],
			   call->is_inline ? " (inline)" : "", out);
	}
	if (!count)
		print_call(value, style, "<unknown>", "", out);
}

/* Those that change nothing, or less than a byte, are left out. */
static void print_traces(struct traces *traces, size_t limit, FILE *out)
{
	const struct estimate total = estimate_total(traces->profile, traces->type);
	size_t shown = 0;

	qsort(traces->trace, traces->count, sizeof(*traces->trace), compare_traces);
	render_header(traces->profile, traces->type, &total, out);
	for (size_t i = 0; i < traces->count && (!limit || shown < limit); i++) {
		if (llround(traces->trace[i].value) == 0)
			continue;
		print_trace(traces, &traces->trace[i], out);
		shown++;
	}
	print_separator(out);
}

int render_traces(const struct profile *profile, const struct render_options *options, FILE *out)
{
	struct traces traces = {.profile = profile,
				.type = options->type,
				.is_comparison = profile_is_comparison(profile),
				.trace = malloc((profile->row_count + 1) * sizeof(struct trace))};
	int err = traces.trace ? functions_open(profile, &traces.functions) : -ENOMEM;

	if (!err)
		err = sum_traces(&traces);
	if (!err)
		print_traces(&traces, options->limit, out);
	free(traces.trace);
	table_close(&traces.by_hash);
	functions_close(&traces.functions);
	return render_result(err, out);
}
