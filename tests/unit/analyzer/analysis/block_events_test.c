/* SPDX-License-Identifier: MIT */
#include "block_events.h"

#include <math.h>

#include "estimate.h"
#include "row_history.h"
#include "sample_profile.h"
#include "unit.h"

#define SLICE_NS (1ull << HISTORY_SHIFT_FIRST)

/* A row with a history: a sample of 64 bytes at each of `born`, of which the first `freed` go at
 * gone_ns. */
static void add_history(struct profile *profile, const char *name, uint32_t count, uint32_t freed,
			uint64_t gone_slice)
{
	const uint32_t frame = sample_frame(profile, name);
	struct history history;
	struct profile_row *row = sample_row(profile, &frame, 1, 64);

	history_open(&history);
	for (uint32_t i = 0; i < count; i++) {
		history_add_alloc(&history, i * SLICE_NS);
		if (i >= freed)
			history_add_live(&history, i * SLICE_NS);
		else
			history_add_gone(&history, gone_slice * SLICE_NS);
	}
	row_history_add(profile, row, &history);
	row->alloc_count = count;
	row->alloc_bytes = 64 * count;
	row->inuse_count = count - freed;
	row->inuse_bytes = 64 * (count - freed);
}

/* Checks order and pairs, and returns the sums. */
static void check_events(const struct block_events *events, int64_t *out_all, int64_t *out_live)
{
	*out_all = *out_live = 0;
	for (size_t i = 0; i < events->count; i++) {
		const struct block_event *event = &events->event[i];
		int64_t before = 0;

		CHECK(event->bytes != 0);
		CHECK(i == 0 || events->event[i - 1].time_ns <= event->time_ns);
		for (size_t k = 0; k < i; k++)
			before +=
				events->event[k].block == event->block ? events->event[k].bytes : 0;
		CHECK_EQ(before, event->bytes < 0 ? -event->bytes : 0);
		*out_all += event->bytes > 0 ? event->bytes : 0;
		*out_live += event->bytes;
	}
}

UNIT_TEST(what_is_freed_was_allocated_first)
{
	struct profile profile = sample_open();
	struct block_events events;
	int64_t all, live;

	add_history(&profile, "cache", 4, 3, 2);
	CHECK_EQ(block_events_open(&profile, &events), 0);
	check_events(&events, &all, &live);
	CHECK_EQ(all, 4 * 64);
	CHECK_EQ(live, 64);
	CHECK_EQ(events.count, 7);
	/* two slices with a block each, then in the third one the third block, and all three go */
	CHECK_EQ(events.event[0].time_ns, SLICE_NS / 2);
	CHECK_EQ(events.event[2].time_ns, 2 * SLICE_NS + SLICE_NS / 2);
	CHECK_EQ(events.event[3].time_ns, 2 * SLICE_NS + SLICE_NS / 4 * 3);
	CHECK_EQ(events.event[3].bytes, -64);
	CHECK_EQ(events.event[3].block, events.event[0].block);
	CHECK_EQ(events.event[6].time_ns, 3 * SLICE_NS + SLICE_NS / 2);
	CHECK_EQ(events.event[6].bytes, 64);
	block_events_close(&events);
	profile_close(&profile);
}

UNIT_TEST(without_history_all_that_was_freed_is_at_the_start)
{
	struct profile profile = sample_open();
	struct block_events events;
	int64_t all, live;

	sample_stack(&profile, "main;leak", 3, 100);
	profile.row[0].inuse_ns = 3 * 2e9;
	CHECK_EQ(block_events_open(&profile, &events), 0);
	check_events(&events, &all, &live);
	CHECK_EQ(all, 600);
	CHECK_EQ(live, 300);
	CHECK_EQ(events.count, 3);
	CHECK_EQ(events.event[1].time_ns, 0);
	CHECK_EQ(events.event[1].bytes, -300);
	CHECK_EQ(events.event[2].time_ns, 2000000000);
	block_events_close(&events);
	profile_close(&profile);
}

/* Whatever the weights, the sums are those of the estimates, to half a byte a row. */
UNIT_TEST(sums_are_those_of_the_estimates)
{
	struct profile profile = sample_open();
	struct block_events events;
	char name[16];
	int64_t all, live;

	profile.meta.interval = 777;
	for (uint32_t i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		add_history(&profile, name, 1 + i, i * 7 % (1 + i), 5 + i);
	}
	CHECK_EQ(block_events_open(&profile, &events), 0);
	check_events(&events, &all, &live);
	CHECK(fabs((double)all - estimate_total(&profile, ALLOC_SPACE).value) <= 20);
	CHECK(fabs((double)live - estimate_total(&profile, INUSE_SPACE).value) <= 10);
	CHECK(events.event[events.count - 1].time_ns <= profile.meta.duration_ns);
	block_events_close(&events);
	profile_close(&profile);
}

UNIT_MAIN()
