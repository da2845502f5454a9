/* SPDX-License-Identifier: MIT */
/* payload_live_set_test.c - the set of live samples, alone and with several threads. */
#include <pthread.h>

#include "live_set.h"
#include "payload_arena.h"

enum { BITS = 4 };

static uint64_t home_of(uint64_t address)
{
	return address * HI_HASH >> (64 - BITS);
}

static uint8_t *occupancy_of(const struct arena *arena, uint64_t address)
{
	return &arena->occupancy[hi_gate_hash(address) & ((1 << BITS) - 1)];
}

static unsigned occupancy_sum(const struct arena *arena)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < 1 << BITS; i++)
		sum += arena->occupancy[i];
	return sum;
}

/* The next address after `from` whose home is this bucket. */
static uint64_t address_at(uint64_t home, uint64_t from)
{
	for (from += 16; home_of(from) != home; from += 16)
		;
	return from;
}

UNIT_TEST(goes_in_and_comes_out_once)
{
	struct arena arena = arena_open(1, BITS, 4096);

	CHECK(!live_set_remove(arena.state, 0x1000));
	CHECK(live_set_insert(arena.state, 0x1000));
	CHECK_EQ(*occupancy_of(&arena, 0x1000), 1);
	CHECK(live_set_remove(arena.state, 0x1000));
	CHECK(!live_set_remove(arena.state, 0x1000));
	arena_check_quiet(&arena);
}

/* Where there are sentinels. */
UNIT_TEST(both_occupancy_bytes_count)
{
	static uint8_t unasked[1 << BITS];
	struct arena arena = arena_open(1, BITS, 4096);
	const uint64_t home = hi_gate_hash(0x1000) & ((1 << BITS) - 1);

	arena.state->unasked_occupancy = (uintptr_t)unasked;
	*occupancy_of(&arena, 0x1000) = 1; /* a sentinel */
	CHECK(live_set_insert(arena.state, 0x1000));
	CHECK(live_set_insert(arena.state, 0x1000));
	CHECK_EQ(*occupancy_of(&arena, 0x1000), 2);
	CHECK_EQ(unasked[home], 1);
	live_set_take_sentinel(arena.state, 0x1000);
	CHECK_EQ(*occupancy_of(&arena, 0x1000), 1);
	CHECK_EQ(unasked[home], 1);
	CHECK(live_set_remove(arena.state, 0x1000));
	CHECK_EQ(unasked[home], 0);
	arena_check_quiet(&arena);
}

UNIT_TEST(same_address_twice_is_one)
{
	struct arena arena = arena_open(1, BITS, 4096);

	CHECK(live_set_insert(arena.state, 0x1000));
	CHECK(live_set_insert(arena.state, 0x1000));
	CHECK_EQ(*occupancy_of(&arena, 0x1000), 1);
	CHECK(live_set_remove(arena.state, 0x1000));
	arena_check_quiet(&arena);
}

/* Home and its neighbour; then no more. */
UNIT_TEST(full_neighbourhood_refuses)
{
	enum { ROOM = HI_BUCKET_ENTRIES * HI_BUCKET_PROBES, HOME = (1 << BITS) - 2 };
	struct arena arena = arena_open(1, BITS, 4096);
	uint64_t address[ROOM + 1], last = 0;

	for (int i = 0; i <= ROOM; i++) {
		last = address[i] = address_at(HOME, last);
		CHECK_EQ(live_set_insert(arena.state, address[i]), i < ROOM);
	}
	CHECK_EQ(occupancy_sum(&arena), ROOM);
	CHECK(!live_set_remove(arena.state, address[ROOM]));
	for (int i = 0; i < ROOM; i++)
		CHECK(live_set_remove(arena.state, address[i]));
	arena_check_quiet(&arena);
}

/* A table of 2^BITS buckets, and one of four times as many. */
static void add_level(struct arena *arena)
{
	arena->state->buckets =
		(uintptr_t)arena_map((size_t)HI_BUCKET_ENTRIES * 8 * 5 << BITS, MAP_PRIVATE);
	arena->state->bucket_levels = 2;
}

/* What finds no room goes one level down, and is found there. */
UNIT_TEST(the_next_level_takes_what_does_not_fit)
{
	enum { ROOM = HI_BUCKET_ENTRIES * HI_BUCKET_PROBES, HOME = 6, MORE = 5 };
	struct arena arena = arena_open(1, BITS, 4096);
	uint64_t address[ROOM + MORE], last = 0;

	add_level(&arena);
	for (int i = 0; i < ROOM + MORE; i++) {
		CHECK_EQ(arena.state->levels_used, i == 0 ? 0 : i <= ROOM ? 1 : 3);
		last = address[i] = address_at(HOME, last);
		CHECK(live_set_insert(arena.state, address[i]));
		CHECK(live_set_insert(arena.state, address[i]));
	}
	CHECK_EQ(occupancy_sum(&arena), ROOM + MORE);
	for (int i = ROOM + MORE; i--;) {
		CHECK(live_set_remove(arena.state, address[i]));
		CHECK(!live_set_remove(arena.state, address[i]));
	}
	arena_check_quiet(&arena);
}

/* Everything that both levels can hold, and every entry of it in a place of its own. */
UNIT_TEST(levels_do_not_overlap)
{
	enum { ENTRIES = HI_BUCKET_ENTRIES * 5 << BITS };
	struct arena arena = arena_open(1, BITS, 4096);
	const uint64_t *entry;
	unsigned in = 0, used = 0;

	add_level(&arena);
	entry = (const uint64_t *)arena.state->buckets;
	for (uint64_t address = 16; address < 16 * 20 * ENTRIES; address += 16)
		in += live_set_insert(arena.state, address);
	for (unsigned i = 0; i < ENTRIES; i++)
		used += entry[i] != 0;
	CHECK_EQ(used, in);
	CHECK(in > ENTRIES * 9 / 10);
	for (uint64_t address = 16; address < 16 * 20 * ENTRIES; address += 16)
		in -= live_set_remove(arena.state, address);
	CHECK_EQ(in, 0);
	for (unsigned i = 0; i < ENTRIES; i++)
		CHECK_EQ(entry[i], 0);
}

UNIT_TEST(occupancy_sticks_at_255)
{
	struct arena arena = arena_open(1, BITS, 4096);
	uint8_t *occupancy = occupancy_of(&arena, 0x1000);

	*occupancy = 254;
	CHECK(live_set_insert(arena.state, 0x1000));
	CHECK_EQ(*occupancy, 255);
	CHECK(live_set_remove(arena.state, 0x1000));
	CHECK_EQ(*occupancy, 255);
}

static void *churn(void *argument)
{
	enum { ROUNDS = 3000, HELD = 40 };
	struct hi_state *state = ((struct arena *)argument)->state;
	uint64_t mine = (uint64_t)pthread_self() << 20, address[HELD];
	bool is_in[HELD];

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < HELD; i++) {
			address[i] = mine + 16 * (uint64_t)(round * HELD + i);
			is_in[i] = live_set_insert(state, address[i]);
		}
		for (int i = 0; i < HELD; i++)
			CHECK_EQ(live_set_remove(state, address[i]), is_in[i]);
	}
	return NULL;
}

/* 160 addresses in 128 places: threads meet in every bucket, and some find it full. */
UNIT_TEST(threads_lose_nothing)
{
	struct arena arena = arena_open(1, BITS, 4096);
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, churn, &arena), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	arena_check_quiet(&arena);
}

UNIT_MAIN()
