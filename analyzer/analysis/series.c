/* SPDX-License-Identifier: MIT */
/* series.c - see series.h. */
#include "series.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caveats.h"
#include "stack_text.h"

#define OTHERS "other stacks"

static int print_to_text(const struct stack_text *text, uint32_t stack, bool all, char **out_text)
{
	size_t size;
	FILE *out = open_memstream(out_text, &size);

	if (!out)
		return -ENOMEM;
	if (all)
		stack_text_print_all(text, stack, "        ", out);
	else
		stack_text_print(text, stack, out);
	if (fclose(out)) {
		free(*out_text);
		*out_text = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int find_stack(const struct series *series, uint64_t hash, uint32_t *out_index)
{
	struct table_cursor cursor = table_seek(&series->index, hash);

	while (table_next(&series->index, &cursor, out_index)) {
		if (series->stack[*out_index].hash == hash)
			return 0;
	}
	return -ENOENT;
}

static int new_stack(struct series *series, const struct stack_text *text, uint32_t stack,
		     uint64_t hash, uint32_t *out_index)
{
	struct series_stack added = {.hash = hash, .first = (uint32_t)series->snapshot_count};
	const bool is_last = series->stack_count == SERIES_STACKS_MAX;

	if (series->has_others) {
		*out_index = (uint32_t)series->stack_count - 1;
		return 0;
	}
	if (array_reserve(&series->stack, &series->stack_capacity, series->stack_count,
			  sizeof(*series->stack)))
		return -ENOMEM;
	if (is_last)
		added.line = strdup(OTHERS), added.all = strdup("");
	else if (print_to_text(text, stack, false, &added.line) ||
		 print_to_text(text, stack, true, &added.all))
		added.all = NULL;
	*out_index = (uint32_t)series->stack_count;
	if (!added.line || !added.all ||
	    (!is_last && table_add(&series->index, hash, *out_index))) {
		free(added.line);
		free(added.all);
		return -ENOMEM;
	}
	series->has_others = is_last;
	series->stack[series->stack_count++] = added;
	return 0;
}

static int grow(const struct series *series, struct series_stack *stack, uint32_t capacity)
{
	double *const value = reallocarray(stack->value, capacity, sizeof(*value));
	float *const variance = value && series->keeps_variance
					? reallocarray(stack->variance, capacity, sizeof(*variance))
					: NULL;

	stack->value = value ? value : stack->value;
	stack->variance = variance ? variance : stack->variance;
	if (!value || (series->keeps_variance && !variance))
		return -ENOMEM;
	stack->capacity = capacity;
	return 0;
}

static float narrowed(double value)
{
	return (float)fmin(fmax(value, -FLT_MAX), FLT_MAX);
}

/* Adds an estimate to what the stack holds in the current snapshot. */
static int add_value(const struct series *series, struct series_stack *stack,
		     const struct estimate *estimate)
{
	const uint32_t at = (uint32_t)series->snapshot_count - stack->first;

	if (at >= stack->capacity && grow(series, stack, at < 4 ? 4 : at * 2))
		return -ENOMEM;
	for (; stack->count <= at; stack->count++) {
		stack->value[stack->count] = 0;
		if (stack->variance)
			stack->variance[stack->count] = 0;
	}
	stack->value[at] += estimate->value;
	if (stack->variance)
		stack->variance[at] = narrowed(stack->variance[at] + estimate->variance);
	stack->unit = fmaxf(stack->unit, narrowed(estimate->unit));
	return 0;
}

static int add_groups(struct series *series, const struct stack_text *text,
		      const struct stack_groups *groups, enum sample_type type)
{
	int err = 0;

	for (size_t group = 0; group < groups->count && !err; group++) {
		const uint64_t hash = stack_text_hash(text, groups->stack[group]);
		struct estimate sum = {0};
		uint32_t index;

		for (size_t i = groups->first_row[group]; i < groups->first_row[group + 1]; i++) {
			const struct estimate row = estimate_of(
				text->profile, &text->profile->row[groups->row[i]], type);

			estimate_add(&sum, &row);
		}
		if (sum.value == 0)
			continue;
		if (find_stack(series, hash, &index))
			err = new_stack(series, text, groups->stack[group], hash, &index);
		if (!err)
			err = add_value(series, &series->stack[index], &sum);
	}
	return err;
}

static int copy_text(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -ENOMEM : 0;
}

/*
 * Adds a snapshot's metadata. The names of the process and of the host come from the first
 * snapshot.
 */
static int add_meta(struct series *series, const struct profile_meta *meta)
{
	series->is_scaled |= meta->is_scaled;
	series->caveats |= caveats_bits(meta);
	series->peak_bytes = meta->peak_inuse_bytes;
	series->peak_ns = meta->peak_ns;
	if (series->snapshot_count)
		return 0;
	return copy_text(&series->comm, meta->comm) || copy_text(&series->cmdline, meta->cmdline) ||
			       copy_text(&series->host, meta->host)
		       ? -ENOMEM
		       : 0;
}

int series_add(struct series *series, const struct profile *profile, enum sample_type type)
{
	struct stack_text text;
	struct stack_groups groups = {0};
	int err = stack_text_open(profile, &text);

	if (!err)
		err = stack_groups_open(&text, &groups);
	if (!err)
		err = array_reserve(&series->snapshot, &series->snapshot_capacity,
				    series->snapshot_count, sizeof(*series->snapshot));
	if (!err)
		err = add_groups(series, &text, &groups, type);
	if (!err)
		err = add_meta(series, &profile->meta);
	if (!err)
		series->snapshot[series->snapshot_count++] = (struct series_snapshot){
			.pid = profile->meta.pid,
			.start_unix_ns = profile->meta.start_unix_ns,
			.duration_ns = profile->meta.duration_ns,
			.total = estimate_total(profile, type),
			.in_use = estimate_total(profile, INUSE_SPACE).value,
		};
	stack_groups_close(&groups);
	stack_text_close(&text);
	return err;
}

double series_value(const struct series_stack *stack, size_t snapshot)
{
	return snapshot >= stack->first && snapshot - stack->first < stack->count
		       ? stack->value[snapshot - stack->first]
		       : 0;
}

double series_variance(const struct series_stack *stack, size_t snapshot)
{
	return stack->variance && snapshot >= stack->first && snapshot - stack->first < stack->count
		       ? (double)stack->variance[snapshot - stack->first]
		       : 0;
}

/*
 * The time of a snapshot is the end of its window. Within one session the times count from the
 * session's start; across sessions they go by the machine's clock.
 */
bool series_times(const struct series *series, double *time)
{
	const struct series_snapshot *first = series->snapshot;
	bool is_known = true;

	for (size_t i = 0; i < series->snapshot_count && is_known; i++) {
		const struct series_snapshot *at = &series->snapshot[i];

		time[i] = ((double)(int64_t)(at->start_unix_ns - first->start_unix_ns) +
			   (double)at->duration_ns - (double)first->duration_ns) /
			  1e9;
		is_known = at->start_unix_ns && (i == 0 || time[i] > time[i - 1]);
	}
	for (size_t i = 0; i < series->snapshot_count && !is_known; i++)
		time[i] = (double)i;
	return is_known;
}

bool series_is_one_session(const struct series *series)
{
	const struct series_snapshot *first = series->snapshot;

	for (size_t i = 1; i < series->snapshot_count; i++) {
		if (series->snapshot[i].pid != first->pid ||
		    series->snapshot[i].start_unix_ns != first->start_unix_ns)
			return false;
	}
	return true;
}

void series_close(struct series *series)
{
	for (size_t i = 0; i < series->stack_count; i++) {
		free(series->stack[i].line);
		free(series->stack[i].all);
		free(series->stack[i].value);
		free(series->stack[i].variance);
	}
	free(series->snapshot);
	free(series->stack);
	free(series->comm);
	free(series->cmdline);
	free(series->host);
	table_close(&series->index);
	*series = (struct series){0};
}
