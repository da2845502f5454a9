/* SPDX-License-Identifier: MIT */
/* row_trend.c - see row_trend.h. */
#include "row_trend.h"

#include <math.h>

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

bool row_trend_counts(const struct profile_row *row)
{
	return row->key.side == PROFILE_NEW && row->alloc_count;
}

void row_trend_begin(const struct profile *profile, double tail_ns, struct row_trend *out_begin)
{
	const uint32_t shift = common_shift(profile);
	double activity[HISTORY_SLICES] = {0};
	struct history history;

	*out_begin = (struct row_trend){.slices = {.width_ns = (double)(1ull << shift),
						   .window_ns = (double)profile->meta.duration_ns,
						   .tail_ns = tail_ns}};
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct profile_row *row = &profile->row[i];

		if (!row_trend_counts(row) || !row_history_get(profile, row, &history))
			continue;
		history_widen(&history, shift);
		for (size_t slice = 0; slice < HISTORY_SLICES; slice++)
			activity[slice] += history.alloc[slice];
	}
	trend_set_clock(&out_begin->slices, activity);
}

/* Adds the part of a row's estimate that is older than the tail. */
static void add_older(struct estimate *to, struct estimate row, double part)
{
	row.value *= part;
	row.variance *= part;
	row.samples *= part;
	row.slack *= part;
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

void row_trend_add(const struct profile *profile, const struct profile_row *row,
		   struct row_trend *sum)
{
	const uint64_t size = row->alloc_count ? row->alloc_bytes / row->alloc_count : 0;
	const struct estimate one = estimate_row(1, size, row->key.interval, INUSE_SPACE);
	struct trend_slices *slices = &sum->slices;
	struct history history;

	if (!row_trend_counts(row) || !row_history_get(profile, row, &history))
		return;
	/*
	 * Widths are powers of two, and the sum's slices are at least as wide as those of its
	 * widest row.
	 */
	while (slices->width_ns > (double)(1ull << history.shift))
		history_widen(&history, history.shift + 1);
	add_slices(slices, &history, &one);
	if (!row->inuse_count)
		return;
	const double part = older_part(slices, &history);
	add_older(&sum->bytes, estimate_of(profile, row, INUSE_SPACE), part);
	add_older(&sum->objects, estimate_of(profile, row, INUSE_OBJECTS), part);
}

void row_trend_bars(const struct trend_slices *slices, size_t count, double *out_bar)
{
	double in_use = 0, most = 0;
	size_t slice = 0;

	for (size_t bar = 0; bar < count; bar++) {
		const double to_ns = slices->window_ns * (double)(bar + 1) / (double)count +
				     slices->width_ns / 2;

		for (; slice < HISTORY_SLICES && (double)(slice + 1) * slices->width_ns <= to_ns;
		     slice++)
			in_use += slices->change[slice];
		out_bar[bar] = fmax(0, in_use);
		most = fmax(most, out_bar[bar]);
	}
	for (size_t bar = 0; bar < count && most > 0; bar++)
		out_bar[bar] /= most;
}
