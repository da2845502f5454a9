/* SPDX-License-Identifier: MIT */
/* heap_growth.c: what of the process's growth is in use, and what the allocator retains. */
#include "heap_growth.h"

#include "unit.h"

#define MB (1u << 20)
#define SECOND UINT64_C(1000000000)

/* Looks with 10 MB in use at first, and so many more at last, in a process that grows by both. */
static struct profile_meta meta_of(uint64_t used, uint64_t kept)
{
	struct profile_meta meta = {0};

	heap_history_add(&meta.heap, &(struct heap_moment){.time_ns = SECOND,
							   .anonymous = 20 * MB,
							   .used_bytes = 10 * MB,
							   .used = 10 * MB});
	heap_history_add(&meta.heap, &(struct heap_moment){.time_ns = 11 * SECOND,
							   .anonymous = (20 + used + kept) * MB,
							   .used_bytes = (10 + used) * MB,
							   .used = (10 + used) * MB,
							   .free = kept * MB / 2,
							   .cached = kept * MB / 2,
							   .trimmable = kept * MB / 2});
	return meta;
}

UNIT_TEST(a_leak_is_in_use)
{
	struct profile_meta meta = meta_of(50, 2);
	struct heap_growth growth;

	heap_growth_of(&meta, &growth);
	CHECK(growth.now && growth.has_grown && !growth.is_retained);
	CHECK(growth.seconds == 10);
	CHECK(growth.anonymous == 52.0 * MB && growth.used == 50.0 * MB);
	CHECK(growth.kept == 2.0 * MB);
	CHECK(!heap_growth_keeps_much(growth.now));
}

UNIT_TEST(a_peak_is_retained)
{
	struct profile_meta meta = meta_of(5, 80);
	struct heap_growth growth;

	heap_growth_of(&meta, &growth);
	CHECK(growth.has_grown && growth.is_retained);
	CHECK(heap_growth_keeps_much(growth.now));
	CHECK(!heap_growth_is_fragmented(growth.now));
	meta.heap.moment[1].trimmable = 20 * MB;
	CHECK(heap_growth_is_fragmented(growth.now));
}

/* Half of it is in use: that is no mere retention. */
UNIT_TEST(both_at_once)
{
	struct profile_meta meta = meta_of(40, 40);
	struct heap_growth growth;

	heap_growth_of(&meta, &growth);
	CHECK(growth.has_grown && !growth.is_retained);
}

UNIT_TEST(a_process_that_did_not_grow)
{
	struct profile_meta meta = meta_of(0, 0);
	struct heap_growth growth;

	heap_growth_of(&meta, &growth);
	CHECK(growth.now && !growth.has_grown && !growth.is_retained);
	meta.heap.count = 1;
	heap_growth_of(&meta, &growth);
	CHECK(growth.now == &meta.heap.moment[0] && !growth.has_grown);
	meta.heap.count = 0;
	heap_growth_of(&meta, &growth);
	CHECK(!growth.now);
}

UNIT_TEST(what_must_not_be_stated)
{
	char refusal[] = "it takes too long";
	struct profile_meta meta = meta_of(5, 80);
	struct heap_growth growth;

	meta.heap.refusal = refusal;
	heap_growth_of(&meta, &growth);
	CHECK(!growth.now && !growth.has_grown);
	meta.heap.refusal = NULL;
	meta.files = 2;
	heap_growth_of(&meta, &growth);
	CHECK(!growth.now);
	meta.files = 0;
	meta.heap.moment[1].unsure = 50 * MB;
	heap_growth_of(&meta, &growth);
	CHECK(!growth.now);
	meta.heap.moment[1].unsure = 0;
	meta.heap.moment[0].unsure = 50 * MB;
	heap_growth_of(&meta, &growth);
	CHECK(growth.now && !growth.has_grown);
}

/* Samples see 100 MB in use: the looks have missed where that is. */
UNIT_TEST(samples_that_contradict_the_look)
{
	struct profile_meta meta = meta_of(5, 80);
	struct heap_growth growth;

	profile_add_moment(&meta, &(struct profile_moment){.time_ns = 10 * SECOND,
							   .anonymous = 200 * MB,
							   .seen = 100 * MB});
	heap_growth_of(&meta, &growth);
	CHECK(!growth.now);
	meta.moment[0].seen = 16 * MB;
	heap_growth_of(&meta, &growth);
	CHECK(growth.now && growth.has_grown);
}

UNIT_MAIN()
