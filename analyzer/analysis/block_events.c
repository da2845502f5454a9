/* SPDX-License-Identifier: MIT */
/* block_events.c - see block_events.h. Start at block_events_open(). */
#include "block_events.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "estimate.h"
#include "row_history.h"
#include "table.h"
#include "text_out.h"

/* Shares a number of bytes among a number of samples, in whole bytes that add up. */
struct shares {
	double bytes;
	uint64_t samples, taken;
};

static int64_t take_share(struct shares *shares, uint64_t samples)
{
	const double each = shares->samples ? shares->bytes / (double)shares->samples : 0;
	const int64_t before = text_whole(each * (double)shares->taken);

	shares->taken += samples;
	return text_whole(each * (double)shares->taken) - before;
}

static int add_event(struct block_events *events, const struct block_event *event)
{
	if (array_reserve(&events->event, &events->capacity, events->count, sizeof(*event)))
		return -ENOMEM;
	events->event[events->count++] = *event;
	return 0;
}

/* A block; freed_ns UINT64_MAX = it is in use. One without a byte is none. */
static int add_block(struct block_events *events, uint32_t row, int64_t bytes, uint64_t born_ns,
		     uint64_t freed_ns)
{
	struct block_event event = {.time_ns = born_ns, .bytes = bytes, .row = row};
	int err;

	if (bytes <= 0)
		return 0;
	event.block = ++events->blocks;
	err = add_event(events, &event);
	if (err || freed_ns == UINT64_MAX)
		return err;
	event.time_ns = freed_ns;
	event.bytes = -bytes;
	return add_event(events, &event);
}

/* The quarter (of four) of a slice, but no later than the end. */
static uint64_t time_in(const struct history *history, uint32_t slice, uint32_t quarter,
			uint64_t end_ns)
{
	const uint64_t time_ns =
		((uint64_t)slice << history->shift) + ((1ull << history->shift) >> 2) * quarter;

	return end_ns && time_ns > end_ns ? end_ns : time_ns;
}

/* What is freed is what was allocated first. Frees come late in a slice, after its allocations. */
static int add_freed(struct block_events *events, uint32_t row, const struct history *history,
		     struct shares *freed, uint64_t end_ns)
{
	uint32_t left[HISTORY_SLICES], born = 0;
	int err = 0;

	for (uint32_t slice = 0; slice < HISTORY_SLICES; slice++)
		left[slice] = history->alloc[slice] - history->live[slice];
	for (uint32_t slice = 0; slice < HISTORY_SLICES; slice++) {
		for (uint32_t gone = history->gone[slice]; gone && !err;) {
			while (born < HISTORY_SLICES && !left[born])
				born++;
			if (born == HISTORY_SLICES)
				break;
			/* a free that seems to be earlier: the clocks of two threads may differ */
			const uint32_t last = slice > born ? slice : born;
			const uint32_t count = gone < left[born] ? gone : left[born];

			err = add_block(events, row, take_share(freed, count),
					time_in(history, born, 2, end_ns),
					time_in(history, last, 3, end_ns));
			left[born] -= count;
			gone -= count;
		}
	}
	return err;
}

static int add_live(struct block_events *events, uint32_t row, const struct history *history,
		    struct shares *live, uint64_t end_ns)
{
	int err = 0;

	for (uint32_t slice = 0; slice < HISTORY_SLICES && !err; slice++) {
		if (history->live[slice])
			err = add_block(events, row, take_share(live, history->live[slice]),
					time_in(history, slice, 2, end_ns), UINT64_MAX);
	}
	return err;
}

static int add_row(struct block_events *events, const struct profile *profile, uint32_t number)
{
	const struct profile_row *row = &profile->row[number];
	const double live_bytes = fmax(estimate_of(profile, row, INUSE_SPACE).value, 0);
	const double all_bytes = estimate_of(profile, row, ALLOC_SPACE).value;
	struct shares live = {.bytes = live_bytes, .samples = row->inuse_count};
	struct shares freed = {.bytes = fmax(all_bytes - live_bytes, 0),
			       .samples = row->alloc_count - row->inuse_count};
	const uint64_t end_ns = profile->meta.duration_ns;
	struct history history;
	uint64_t born_ns = 0;
	int err;

	if (row_history_get(profile, row, &history)) {
		err = add_freed(events, number, &history, &freed, end_ns);
		return err ? err : add_live(events, number, &history, &live, end_ns);
	}
	if (row->inuse_count && row->inuse_ns > 0)
		born_ns = estimate_round(row->inuse_ns / (double)row->inuse_count);
	if (end_ns && born_ns > end_ns)
		born_ns = end_ns;
	err = add_block(events, number, text_whole(freed.bytes), 0, 0);
	return err ? err : add_block(events, number, text_whole(live.bytes), born_ns, UINT64_MAX);
}

/* At one time, an allocation comes before its free. */
static int compare_events(const void *left, const void *right)
{
	const struct block_event *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

int block_events_open(const struct profile *profile, struct block_events *out_events)
{
	struct block_events events = {0};
	int err = 0;

	for (size_t i = 0; i < profile->row_count && !err; i++)
		err = add_row(&events, profile, (uint32_t)i);
	if (err) {
		block_events_close(&events);
		return err;
	}
	if (events.count)
		qsort(events.event, events.count, sizeof(*events.event), compare_events);
	*out_events = events;
	return 0;
}

void block_events_close(struct block_events *events)
{
	free(events->event);
	*events = (struct block_events){0};
}
