/* SPDX-License-Identifier: MIT */
/* html_series.c - see html_series.h. */
#include "html_series.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "caveats.h"
#include "html_write.h"
#include "text_out.h"

#define ATTEMPTS 8
#define POINTS_MAX 240u /* of a line in the chart: more cannot be distinguished */
#define CALLS_MAX 32u

struct page {
	const struct profile_meta *all;
	const struct growth *growth;
	enum sample_type type;
	size_t points; /* snapshots that are drawn */
	FILE *out;
};

/* The snapshot of a point. The first and the last snapshot always have a point. */
static size_t snapshot_at(const struct page *page, size_t point)
{
	return point * (page->growth->series->snapshot_count - 1) / (page->points - 1);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static bool is_unsure(const struct page *page)
{
	return caveats_withhold_verdicts(page->growth->series->caveats);
}

static void write_slope(const struct page *page, const struct slope *slope, double unit)
{
	html_write_number("slope", slope->value, page->out);
	html_write_number("low", is_unsure(page) ? INFINITY : slope->low, page->out);
	html_write_number("high", is_unsure(page) ? INFINITY : slope->high, page->out);
	html_write_number("level", slope->level, page->out);
	html_write_number("unit", unit, page->out);
	fprintf(page->out, "\"verdict\":\"%s\",\n", growth_verdict(page->growth, slope));
}

static void write_values(const struct page *page, const struct series_stack *stack)
{
	const struct series *series = page->growth->series;

	fputs("\"value\":[", page->out);
	for (size_t i = 0; i < page->points; i++) {
		const size_t at = snapshot_at(page, i);

		fprintf(page->out, "%s%" PRId64, i ? "," : "",
			text_whole(stack ? series_value(stack, at)
					 : series->snapshot[at].total.value));
	}
	fputc(']', page->out);
	if (page->growth->is_exact)
		return;
	fputs(",\"deviation\":[", page->out);
	for (size_t i = 0; i < page->points; i++) {
		const size_t at = snapshot_at(page, i);
		const double variance =
			stack ? series_variance(stack, at) : series->snapshot[at].total.variance;

		fprintf(page->out, "%s%.4g", i ? "," : "", sqrt(fmin(fmax(variance, 0), 1e300)));
	}
	fputc(']', page->out);
}

/* Writes the lines of series_stack.all without their common prefix. */
static void write_calls(const char *all, FILE *out)
{
	char *copy = strdup(all), *rest = copy, *line;
	size_t count = 0;

	fputs("\"calls\":[", out);
	while ((line = strsep(&rest, "\n")) && count < CALLS_MAX) {
		if (!*line)
			continue;
		fputs(count++ ? "," : "", out);
		html_write_text(line + strspn(line, " "), out);
	}
	fputs(line && *line ? ",\"\\u2026\"],\n" : "],\n", out);
	free(copy);
}

static void write_total(const struct page *page)
{
	const struct series *series = page->growth->series;
	double unit = 0;

	for (size_t i = 0; i < series->snapshot_count; i++)
		unit = fmax(unit, series->snapshot[i].total.unit);
	fputs("\"total\":{", page->out);
	write_slope(page, &page->growth->total, unit);
	write_values(page, NULL);
	fputs("},\n", page->out);
}

static void write_stacks(const struct page *page, size_t count)
{
	fputs("\"stacks\":[", page->out);
	for (size_t i = 0; i < count; i++) {
		const struct growth_stack *of = &page->growth->stack[i];

		fputs(i ? ",\n{\"name\":" : "{\"name\":", page->out);
		html_write_text(of->stack->line, page->out);
		fputc(',', page->out);
		write_calls(of->stack->all, page->out);
		write_slope(page, &of->slope, (double)of->stack->unit);
		write_values(page, of->stack);
		fputc('}', page->out);
	}
	fputs("]}\n", page->out);
}

/* ---- whose snapshots they are ---------------------------------------------------------------- */

static void write_peak(const struct page *page)
{
	const struct series *series = page->growth->series;

	if (!series->peak_bytes || !series_is_one_session(series))
		fputs("\"peak\":null,\n", page->out);
	else
		fprintf(page->out,
			"\"peak\":{\"bytes\":%" PRIu64 ",\"time\":%.3f,\"isExact\":%s},\n",
			series->peak_bytes, (double)series->peak_ns / 1e9,
			page->growth->is_exact ? "true" : "false");
}

static void write_notes(const struct page *page)
{
	const char *before = "";

	fputs("\"notes\":[", page->out);
	for (int kind = 0; kind < HI_CAVEATS; kind++) {
		if (!page->all->caveat[kind])
			continue;
		fputs(before, page->out);
		html_write_text(page->all->caveat[kind], page->out);
		before = ",";
	}
	fputs("],\n", page->out);
}

static void write_meta(const struct page *page)
{
	const struct growth *growth = page->growth;
	const struct series *series = growth->series;
	const struct series_snapshot *first = series->snapshot;
	const bool is_inuse = sample_type_is_inuse(page->type),
		   is_bytes = sample_type_is_space(page->type);
	FILE *out = page->out;

	html_write_printable("title", series->comm, out);
	html_write_printable("host", series->host, out);
	html_write_printable("command", series->cmdline, out);
	fprintf(out, "\"pid\":%" PRIu32 ",\"kind\":{\"kind\":\"%s\",\"isBytes\":%s},\n",
		series_is_one_session(series) ? first->pid : 0, is_inuse ? "inuse" : "alloc",
		is_bytes ? "true" : "false");
	fprintf(out,
		"\"hasTimes\":%s,\"start\":%.3f,\"isScaled\":%s,\"snapshots\":%zu,\"enough\":%u,"
		"\"stackCount\":%zu,\n",
		growth->has_times ? "true" : "false",
		(double)first->start_unix_ns / 1e9 + (double)first->duration_ns / 1e9,
		series->is_scaled ? "true" : "false", series->snapshot_count, SLOPE_POINTS_MIN,
		series->stack_count);
	write_notes(page);
	write_peak(page);
	fputs("\"time\":[", out);
	for (size_t i = 0; i < page->points; i++)
		fprintf(out, "%s%.9g", i ? "," : "", growth->time[snapshot_at(page, i)]);
	fputs("],\n", out);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Returns the series as JSON. The caller frees it. NULL = out of memory. */
static char *data_of(struct page *page, size_t stacks, size_t *out_size)
{
	char *text = NULL;

	page->out = open_memstream(&text, out_size);
	if (!page->out)
		return NULL;
	fputc('{', page->out);
	write_meta(page);
	write_total(page);
	write_stacks(page, stacks);
	if (fclose(page->out)) {
		free(text);
		text = NULL;
	}
	return text;
}

char *html_series_json(const struct profile_meta *all, const struct growth *growth,
		       const struct html_series_options *options)
{
	const size_t snapshots = growth->series->snapshot_count, wanted = options->stacks;
	struct page page = {.all = all,
			    .growth = growth,
			    .type = options->type,
			    .points = snapshots < POINTS_MAX ? snapshots : POINTS_MAX};
	size_t stacks = wanted < growth->closer ? wanted : growth->closer, size;
	char *data = data_of(&page, stacks, &size);

	for (int i = 0; data && size > options->room && i < ATTEMPTS; i++) {
		stacks = (size_t)((double)stacks * (double)options->room / (double)size * 0.97);
		free(data);
		data = data_of(&page, stacks, &size);
	}
	return data;
}
