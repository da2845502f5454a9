/* SPDX-License-Identifier: MIT */
/*
 * leaks.c - see leaks.h.
 *
 * The rows of a group are added up in slices of equal width, and the trend is computed from these.
 * The next group reuses the same memory: only one struct leak is kept per group. Start at
 * leaks_open().
 */
#include "leaks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "caveats.h"
#include "row_history.h"

/* The shift of the slice width with which the slices hold the whole window. */
static uint32_t common_shift(const struct profile *profile)
{
	uint32_t shift = HISTORY_SHIFT_FIRST;

	while (shift < HISTORY_SHIFT_MAX && profile->meta.duration_ns >> shift >= HISTORY_SLICES)
		shift++;
	for (size_t i = 0; i < profile->histories.count; i++)
		shift = profile->histories.history[i].shift > shift
				? profile->histories.history[i].shift
				: shift;
	return shift;
}

static void add_slices(struct trend_slices *slices, const struct history *history,
		       const struct estimate *one)
{
	for (size_t i = 0; i < HISTORY_SLICES; i++) {
		const double change = (double)history->alloc[i] - (double)history->gone[i];

		slices->live[i] += (double)history->live[i] * one->value;
		slices->live_square[i] += (double)history->live[i] * one->value * one->value;
		slices->change[i] += change * one->value;
		slices->change_variance[i] += change * one->variance;
		slices->alloc[i] += history->alloc[i];
	}
}

static bool counts(const struct profile_row *row)
{
	return row->key.side == PROFILE_NEW && row->alloc_count;
}

/* Sets what is the same for all stacks: the slices, and the program's own time. */
static void open_slices(const struct profile *profile, struct leaks *leaks)
{
	const uint32_t shift = common_shift(profile);
	double activity[HISTORY_SLICES] = {0};
	struct history history;

	leaks->slices = (struct trend_slices){.width_ns = (double)(1ull << shift),
					      .window_ns = leaks->window_ns,
					      .tail_ns = leaks->tail_ns};
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct profile_row *row = &profile->row[i];

		if (!counts(row) || !row_history_get(profile, row, &history))
			continue;
		history_widen(&history, shift);
		for (size_t slice = 0; slice < HISTORY_SLICES; slice++)
			activity[slice] += history.alloc[slice];
	}
	trend_set_clock(&leaks->slices, activity);
}

/* Adds the part of a row's estimate that is older than the tail. */
static void add_older(struct estimate *to, struct estimate row, double part)
{
	row.value *= part;
	row.variance *= part;
	row.samples *= part;
	row.live *= part;
	row.age_ns *= part;
	estimate_add(to, &row);
}

static double older_part(const struct trend_slices *slices, const struct history *history)
{
	double older = 0, all = 0;

	for (size_t i = 0; i < HISTORY_SLICES; i++) {
		older += (double)history->live[i] *
			 trend_part_before(slices, i, slices->window_ns - slices->tail_ns);
		all += (double)history->live[i];
	}
	return all > 0 ? older / all : 0;
}

static void add_row(const struct profile *profile, const struct profile_row *row,
		    struct trend_slices *slices, struct leak *leak)
{
	const uint64_t size = row->alloc_count ? row->alloc_bytes / row->alloc_count : 0;
	const struct estimate one = estimate_row(1, size, row->key.interval, INUSE_SPACE);
	struct history history;

	if (!row_history_get(profile, row, &history))
		return;
	/*
	 * Widths are powers of two, and the group's slices are at least as wide as those of its
	 * widest row.
	 */
	while (slices->width_ns > (double)(1ull << history.shift))
		history_widen(&history, history.shift + 1);
	add_slices(slices, &history, &one);
	if (!row->inuse_count)
		return;
	const double part = older_part(slices, &history);
	add_older(&leak->bytes, estimate_of(profile, row, INUSE_SPACE), part);
	add_older(&leak->objects, estimate_of(profile, row, INUSE_OBJECTS), part);
}

/* False: the group has nothing in use that is older than the tail. */
static bool find_leak(const struct profile *profile, const struct stack_groups *groups,
		      size_t group, struct leaks *leaks, struct leak *out_leak)
{
	struct trend_slices slices = leaks->slices;
	struct leak leak = {.stack = groups->stack[group]};

	for (size_t i = groups->first_row[group]; i < groups->first_row[group + 1]; i++) {
		const struct profile_row *row = &profile->row[groups->row[i]];

		if (counts(row))
			add_row(profile, row, &slices, &leak);
	}
	if (leak.bytes.value <= 0)
		return false;
	leak.trend = leaks->is_unsure ? (struct trend){.verdict = TREND_UNSURE} : trend_of(&slices);
	leak.age_ns = leak.bytes.live > 0 ? leak.bytes.age_ns / leak.bytes.live : 0;
	*out_leak = leak;
	return true;
}

static int compare_leaks(const void *left, const void *right)
{
	const struct leak *a = left, *b = right;
	const bool grows_a = a->trend.verdict == TREND_GROWS,
		   grows_b = b->trend.verdict == TREND_GROWS;

	if (grows_a != grows_b)
		return grows_a ? -1 : 1;
	if (a->trend.slope != b->trend.slope)
		return a->trend.slope > b->trend.slope ? -1 : 1;
	if (a->bytes.value != b->bytes.value)
		return a->bytes.value > b->bytes.value ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static void find_all(const struct profile *profile, const struct stack_groups *groups,
		     struct leaks *leaks)
{
	for (size_t group = 0; group < groups->count; group++) {
		struct leak *leak = &leaks->leak[leaks->count];

		if (!find_leak(profile, groups, group, leaks, leak))
			continue;
		leaks->count++;
		estimate_add(&leaks->bytes, &leak->bytes);
		estimate_add(&leaks->objects, &leak->objects);
		if (leak->trend.verdict != TREND_GROWS)
			continue;
		leaks->growing_count++;
		estimate_add(&leaks->growing_bytes, &leak->bytes);
		estimate_add(&leaks->growing_objects, &leak->objects);
	}
	qsort(leaks->leak, leaks->count, sizeof(*leaks->leak), compare_leaks);
}

static void count_known(const struct profile *profile, struct leaks *leaks)
{
	struct history history;

	for (size_t i = 0; i < profile->row_count; i++) {
		if (!counts(&profile->row[i]) || !profile->row[i].inuse_count)
			continue;
		if (row_history_get(profile, &profile->row[i], &history))
			leaks->known_rows++;
		else
			leaks->unknown_rows++;
	}
}

int leaks_open(const struct stack_text *text, const struct leaks_tail *tail,
	       struct leaks *out_leaks)
{
	const double window_ns = (double)text->profile->meta.duration_ns;
	struct stack_groups groups;
	int err;

	*out_leaks =
		(struct leaks){.window_ns = window_ns,
			       .tail_ns = tail->ns ? (double)tail->ns : window_ns * tail->share};
	out_leaks->is_unsure = caveats_withhold_verdicts(caveats_bits(&text->profile->meta));
	if (out_leaks->tail_ns >= window_ns && window_ns > 0)
		return -ERANGE;
	err = stack_groups_open(text, &groups);
	if (!err) {
		out_leaks->leak = malloc((groups.count + 1) * sizeof(*out_leaks->leak));
		err = out_leaks->leak ? 0 : -ENOMEM;
	}
	if (!err) {
		open_slices(text->profile, out_leaks);
		count_known(text->profile, out_leaks);
		find_all(text->profile, &groups, out_leaks);
	}
	stack_groups_close(&groups);
	return err;
}

void leaks_close(struct leaks *leaks)
{
	free(leaks->leak);
	*leaks = (struct leaks){0};
}
