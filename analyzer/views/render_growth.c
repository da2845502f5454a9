/* SPDX-License-Identifier: MIT */
/*
 * render_growth.c - how what each stack holds has changed over several snapshots: slope, interval, whether that is more than chance, and a line of small bars.
 *
 * Of many stacks the ones with the steepest straight lines are looked at more closely.
 */
#include "render_formats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hi_units.h"
#include "render_header.h"
#include "series.h"
#include "slope.h"
#include "stack_columns.h"

#define BARS_MAX 24u
#define CLOSER_MAX 1000u

struct growth {
	const struct series_stack *stack;
	double line; /* steepness of the straight line */
	struct slope slope;
};

static int compare_lines(const void *left, const void *right)
{
	const struct growth *a = left, *b = right;

	return fabs(a->line) > fabs(b->line) ? -1 : fabs(a->line) < fabs(b->line);
}

static int compare_slopes(const void *left, const void *right)
{
	const struct growth *a = left, *b = right;

	if (a->slope.value != b->slope.value)
		return a->slope.value > b->slope.value ? -1 : 1;
	return compare_lines(left, right);
}

static void values_of(const struct series *series, const struct series_stack *stack, double *values)
{
	for (size_t i = 0; i < series->snapshot_count; i++)
		values[i] = series_value(stack, i);
}

/* From nothing to the most there was, the mean of several snapshots where there are more than bars. */
static void print_bars(const struct series *series, const struct series_stack *stack, FILE *out)
{
	static const char *const bars[] = {"\342\226\201", "\342\226\202", "\342\226\203", "\342\226\204",
					   "\342\226\205", "\342\226\206", "\342\226\207", "\342\226\210"};
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

/* "1.20MB/s", "12/s", "1.20MB/file"; nothing where there is no bound. */
static char *format_rate(double rate, const char *unit, enum sample_type type, char *text)
{
	char value[HI_UNITS_TEXT_MAX];

	if (isinf(rate))
		snprintf(text, HI_UNITS_TEXT_MAX, "?");
	else if (type == ALLOC_SPACE || type == INUSE_SPACE)
		snprintf(text, HI_UNITS_TEXT_MAX, "%.20s/%s", hi_format_bytes(rate, value, sizeof(value)), unit);
	else
		snprintf(text, HI_UNITS_TEXT_MAX, "%.3g/%s", rate, unit);
	return text;
}

static void print_growth(const struct series *series, const struct growth *growth, const char *unit, const struct render_options *options, FILE *out)
{
	const struct slope *slope = &growth->slope;
	const char *verdict = series->snapshot_count < SLOPE_POINTS_MIN ? "too few files" : !slope->is_sure ? "steady" : slope->value > 0 ? "grows" : "shrinks";
	char rate[HI_UNITS_TEXT_MAX], low[HI_UNITS_TEXT_MAX], high[HI_UNITS_TEXT_MAX], last[HI_UNITS_TEXT_MAX];

	fprintf(out, "%-13s %12s %12s .. %-12s %10s  ", verdict, format_rate(slope->value, unit, options->type, rate),
		format_rate(slope->low, unit, options->type, low), format_rate(slope->high, unit, options->type, high),
		render_value(series_value(growth->stack, series->snapshot_count - 1), options->type, last));
	print_bars(series, growth->stack, out);
	fprintf(out, "  %s\n", growth->stack->line);
	if (options->details)
		fputs(growth->stack->all, out);
}

static void print_totals(const struct series *series, const double *time, bool has_times, const struct render_options *options, FILE *out)
{
	const struct series_snapshot *first = series->snapshot, *last = &series->snapshot[series->snapshot_count - 1];
	char from[HI_UNITS_TEXT_MAX], to[HI_UNITS_TEXT_MAX], span[HI_UNITS_TEXT_MAX];

	fprintf(out, "Snapshots: %zu", series->snapshot_count);
	if (has_times)
		fprintf(out, " over %s", stack_column_time(time[series->snapshot_count - 1] * 1e9, span));
	fprintf(out, "; in all %s at first, %s at last\n", render_value(first->total, options->type, from), render_value(last->total, options->type, to));
	if (!has_times)
		fprintf(out, "The files do not say when they were written, or are not in that order: they count as equally far from each other\n");
}

/* The closer look. 0 or -ENOMEM. */
static int look_closer(const struct series *series, const double *time, struct growth *growth, size_t count)
{
	double *values = malloc(series->snapshot_count * sizeof(*values));
	int error = values ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !error; i++) {
		values_of(series, growth[i].stack, values);
		error = slope_of(time, values, series->snapshot_count, &growth[i].slope);
	}
	free(values);
	if (!error)
		qsort(growth, count, sizeof(*growth), compare_slopes);
	return error;
}

static int look_at_lines(const struct series *series, const double *time, struct growth *growth)
{
	double *values = malloc(series->snapshot_count * sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < series->stack_count; i++) {
		values_of(series, &series->stack[i], values);
		growth[i] = (struct growth){.stack = &series->stack[i], .line = slope_of_line(time, values, series->snapshot_count)};
	}
	free(values);
	qsort(growth, series->stack_count, sizeof(*growth), compare_lines);
	return 0;
}

static int print_all(const struct series *series, const struct render_options *options, double *time, struct growth *growth, FILE *out)
{
	const bool has_times = series_times(series, time);
	const char *unit = has_times ? "s" : "file";
	size_t shown = options->limit ? options->limit : STACK_COLUMNS_LINES, closer = series->stack_count < CLOSER_MAX ? series->stack_count : CLOSER_MAX;

	closer = closer < shown ? shown : closer;
	closer = closer < series->stack_count ? closer : series->stack_count;
	shown = shown < closer ? shown : closer;
	if (look_at_lines(series, time, growth) || look_closer(series, time, growth, closer))
		return -ENOMEM;
	print_totals(series, time, has_times, options, out);
	fprintf(out, "%-13s %12s %12s    %-12s %10s  %s\n", "", "slope", "slope, 95%", "", "at last", "stack");
	for (size_t i = 0; i < shown; i++)
		print_growth(series, &growth[i], unit, options, out);
	stack_columns_rest(series->stack_count, shown, out);
	return 0;
}

int render_growth(const struct profile *profile, const struct render_options *options, FILE *out)
{
	const struct series *series = options->series;
	struct growth *growth;
	double *time;
	int error;

	(void)profile;
	if (!series || series->snapshot_count < 2)
		return render_fail(-EINVAL, "--growth wants several files, the oldest first");
	if (series->snapshot_count > SLOPE_POINTS_MAX)
		return render_fail(-EINVAL, "--growth takes %u files at most", SLOPE_POINTS_MAX);
	growth = calloc(series->stack_count + 1, sizeof(*growth));
	time = calloc(series->snapshot_count, sizeof(*time));
	error = growth && time ? print_all(series, options, time, growth, out) : -ENOMEM;
	free(growth);
	free(time);
	return render_result(error, out);
}
