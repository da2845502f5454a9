/* SPDX-License-Identifier: MIT */
/* growth.c - see growth.h. */
#include "growth.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "caveats.h"

#define CLOSER_MAX 1000u

static int compare_lines(const void *left, const void *right)
{
	const struct growth_stack *a = left, *b = right;

	return fabs(a->line) > fabs(b->line) ? -1 : fabs(a->line) < fabs(b->line);
}

static int compare_slopes(const void *left, const void *right)
{
	const struct growth_stack *a = left, *b = right;

	if (a->slope.value != b->slope.value)
		return a->slope.value > b->slope.value ? -1 : 1;
	return compare_lines(left, right);
}

static void values_of(const struct series *series, const struct series_stack *stack, double *values)
{
	for (size_t i = 0; i < series->snapshot_count; i++)
		values[i] = series_value(stack, i);
}

static bool is_exact(const struct series *series)
{
	for (size_t i = 0; i < series->snapshot_count; i++) {
		if (series->snapshot[i].total.variance > 0 || series->snapshot[i].total.unit > 0)
			return false;
	}
	return true;
}

/* values: a buffer with room for one value per snapshot. */
static void look_at_lines(struct growth *growth, double *values)
{
	const struct series *series = growth->series;

	for (size_t i = 0; i < series->stack_count; i++) {
		values_of(series, &series->stack[i], values);
		growth->stack[i] = (struct growth_stack){
			.stack = &series->stack[i],
			.line = slope_of_line(growth->time, values, series->snapshot_count),
		};
	}
	qsort(growth->stack, series->stack_count, sizeof(*growth->stack), compare_lines);
}

static int look_closer(struct growth *growth, double *values)
{
	const size_t count = growth->series->snapshot_count;
	int err = 0;

	for (size_t i = 0; i < growth->closer && !err; i++) {
		values_of(growth->series, growth->stack[i].stack, values);
		err = slope_of(growth->time, values, count, &growth->stack[i].slope);
	}
	qsort(growth->stack, growth->closer, sizeof(*growth->stack), compare_slopes);
	for (size_t i = 0; i < count; i++)
		values[i] = growth->series->snapshot[i].total.value;
	return err ? err : slope_of(growth->time, values, count, &growth->total);
}

int growth_open(const struct series *series, size_t wanted, struct growth *out_growth)
{
	struct growth *growth = out_growth;
	double *values = malloc(series->snapshot_count * sizeof(*values));
	int err = -ENOMEM;

	*growth = (struct growth){
		.series = series,
		.time = malloc(series->snapshot_count * sizeof(*growth->time)),
		.stack = malloc((series->stack_count + 1) * sizeof(*growth->stack)),
		.is_exact = is_exact(series),
		.closer = wanted > CLOSER_MAX ? wanted : CLOSER_MAX,
	};
	if (growth->closer > series->stack_count)
		growth->closer = series->stack_count;
	if (values && growth->time && growth->stack) {
		growth->has_times = series_times(series, growth->time);
		look_at_lines(growth, values);
		err = look_closer(growth, values);
	}
	free(values);
	return err;
}

void growth_close(struct growth *growth)
{
	free(growth->time);
	free(growth->stack);
	*growth = (struct growth){0};
}

const char *growth_unit(const struct growth *growth)
{
	return growth->has_times ? "s" : "file";
}

const char *growth_verdict(const struct growth *growth, const struct slope *slope)
{
	if (caveats_withhold_verdicts(growth->series->caveats))
		return "cannot tell";
	if (growth->series->snapshot_count < SLOPE_POINTS_MIN)
		return "too few files";
	return !slope->is_sure ? "steady" : slope->value > 0 ? "grows" : "shrinks";
}
