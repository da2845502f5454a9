/* SPDX-License-Identifier: MIT */
/*
 * render_growth.c - how much the value of each stack has changed over several snapshots: slope,
 * interval, whether that is more than chance, and a row of small bars. The output is text, or the
 * page of render_html.c.
 */
#include "render_formats.h"

#include <errno.h>
#include <math.h>

#include "caveats.h"
#include "growth.h"
#include "hi_units.h"
#include "render_header.h"
#include "stack_columns.h"

#define BARS_MAX 24u

/*
 * Prints the bars, scaled from 0 to the maximum. With more snapshots than bars, a bar is the mean
 * of several snapshots.
 */
static void print_bars(const struct series *series, const struct series_stack *stack, FILE *out)
{
	static const char *const bars[] = {"\342\226\201", "\342\226\202", "\342\226\203",
					   "\342\226\204", "\342\226\205", "\342\226\206",
					   "\342\226\207", "\342\226\210"};
	const size_t count = series->snapshot_count, shown = count < BARS_MAX ? count : BARS_MAX;
	double mean[BARS_MAX] = {0}, most = 0;

	for (size_t bar = 0; bar < shown; bar++) {
		const size_t from = bar * count / shown, to = (bar + 1) * count / shown;

		for (size_t i = from; i < to; i++)
			mean[bar] += series_value(stack, i) / (double)(to - from);
		most = fmax(most, mean[bar]);
	}
	for (size_t bar = 0; bar < shown; bar++)
		fputs(bars[most > 0 ? (size_t)fmin(7, fmax(0, 8 * mean[bar] / most)) : 0], out);
}

/* "1.20MB/s", "12/s", "1.20MB/file"; "?" where there is no bound. */
static char *format_rate(double rate, const char *unit, enum sample_type type, char *text)
{
	char value[HI_UNITS_TEXT_MAX];

	if (isinf(rate))
		snprintf(text, HI_UNITS_TEXT_MAX, "?");
	else if (sample_type_is_space(type))
		snprintf(text, HI_UNITS_TEXT_MAX, "%.20s/%s",
			 hi_format_bytes(rate, value, sizeof(value)), unit);
	else
		snprintf(text, HI_UNITS_TEXT_MAX, "%.3g/%s", rate, unit);
	return text;
}

static void print_growth(const struct growth *growth, const struct growth_stack *of,
			 const struct render_options *options, FILE *out)
{
	const struct series *series = growth->series;
	const struct slope *slope = &of->slope;
	const char *unit = growth_unit(growth);
	const bool is_unsure = caveats_withhold_verdicts(series->caveats);
	char rate[HI_UNITS_TEXT_MAX], low[HI_UNITS_TEXT_MAX], high[HI_UNITS_TEXT_MAX],
		last[HI_UNITS_TEXT_MAX];

	fprintf(out, "%-13s %12s %12s .. %-12s %10s  ", growth_verdict(growth, slope),
		format_rate(is_unsure ? INFINITY : slope->value, unit, options->type, rate),
		format_rate(is_unsure ? INFINITY : slope->low, unit, options->type, low),
		format_rate(is_unsure ? INFINITY : slope->high, unit, options->type, high),
		render_value(series_value(of->stack, series->snapshot_count - 1), options->type,
			     last));
	print_bars(series, of->stack, out);
	fprintf(out, "  %s\n", of->stack->line);
	if (options->details)
		fputs(of->stack->all, out);
}

static void print_totals(const struct profile_meta *all, const struct growth *growth,
			 const struct render_options *options, FILE *out)
{
	const struct series *series = growth->series;
	const struct series_snapshot *first = series->snapshot,
				     *last = &series->snapshot[series->snapshot_count - 1];
	char from[HI_UNITS_TEXT_MAX], to[HI_UNITS_TEXT_MAX], span[HI_UNITS_TEXT_MAX];

	fprintf(out, "Snapshots: %zu", series->snapshot_count);
	if (growth->has_times)
		fprintf(out, " over %s",
			hi_format_ns(growth->time[series->snapshot_count - 1] * 1e9, span,
				     sizeof(span)));
	fprintf(out, "; in all %s at first, %s at last\n",
		render_value(first->total.value, options->type, from),
		render_value(last->total.value, options->type, to));
	if (series->peak_bytes && series_is_one_session(series))
		fprintf(out, "Peak: %s%s in use at %.1fs of the session\n",
			growth->is_exact ? "" : "about ",
			render_value((double)series->peak_bytes, INUSE_SPACE, from),
			(double)series->peak_ns / 1e9);
	for (int kind = 0; kind < HI_CAVEATS; kind++)
		if (all->caveat[kind])
			fprintf(out, "%s: %s\n", caveats_word((enum hi_caveat)kind),
				all->caveat[kind]);
	if (!growth->has_times)
		fprintf(out, "The files do not say when they were written, or are not in that "
			     "order: they count as equally far from each other\n");
}

static void print_all(const struct profile_meta *all, const struct growth *growth, size_t wanted,
		      const struct render_options *options, FILE *out)
{
	const size_t shown = wanted < growth->closer ? wanted : growth->closer;

	print_totals(all, growth, options, out);
	fprintf(out, "%-13s %12s %12s    %-12s %10s  %s\n", "", "slope", "slope, 95%", "",
		"at last", "stack");
	for (size_t i = 0; i < shown; i++)
		print_growth(growth, &growth->stack[i], options, out);
	stack_columns_rest(growth->series->stack_count, shown, out);
}

int render_growth(const struct profile *profile, const struct render_options *options, FILE *out)
{
	const struct series *series = options->series;
	const size_t wanted = options->limit ? options->limit : STACK_COLUMNS_LINES;
	struct growth growth;
	int err;

	if (!series || series->snapshot_count < 2)
		return render_fail(-EINVAL, "--growth wants several files, the oldest first");
	if (series->snapshot_count > SLOPE_POINTS_MAX)
		return render_fail(-EINVAL, "--growth takes %u files at most", SLOPE_POINTS_MAX);
	if (options->is_page)
		return render_growth_page(profile, options, out);
	err = growth_open(series, wanted, &growth);
	if (!err)
		print_all(&profile->meta, &growth, wanted, options, out);
	growth_close(&growth);
	return render_result(err, out);
}
