/* SPDX-License-Identifier: MIT */
/* live_set.c - see live_set.h for the design and its invariant. */
#include "live_set.h"

#define OCCUPANCY_MAX 255u
/* if other threads change the byte this often, give up, on the safe side */
#define SWAP_ATTEMPTS 64
#define WINDOW (HI_BUCKET_ENTRIES * HI_BUCKET_PROBES)

static uint64_t hash_of(uint64_t address)
{
	return address * HI_HASH;
}

static uint32_t home_of(const struct hi_state *state, uint64_t address)
{
	return hi_gate_hash(address) & ((1u << state->occupancy_bits) - 1);
}

static uint8_t *occupancy_of(const struct hi_state *state, uint64_t address)
{
	return (uint8_t *)state->occupancy + home_of(state, address);
}

struct level {
	uint64_t *entries;
	uint32_t number;
	uint32_t bits; /* log2 of the number of buckets */
};

static inline struct level first_level(const struct hi_state *state)
{
	return (struct level){.entries = (uint64_t *)state->buckets, .bits = state->bucket_bits};
}

static inline void next_level(struct level *level)
{
	level->entries += (uint64_t)HI_BUCKET_ENTRIES << level->bits;
	level->number++;
	level->bits += HI_LEVEL_BITS;
}

/*
 * The entries in which this level keeps addresses with this hash: two adjacent buckets, WINDOW
 * entries, two cache lines.
 */
static inline uint64_t *window_of(const struct level *level, uint64_t hash)
{
	uint64_t bucket = hash >> (64 - level->bits) & ~(uint64_t)(HI_BUCKET_PROBES - 1);

	return level->entries + bucket * HI_BUCKET_ENTRIES;
}

static bool is_used(const struct hi_state *state, const struct level *level)
{
	return level->number < state->bucket_levels &&
	       __atomic_load_n(&state->levels_used, __ATOMIC_RELAXED) >> level->number & 1;
}

static bool occupancy_add(uint8_t *byte, int change)
{
	uint8_t old = __atomic_load_n(byte, __ATOMIC_RELAXED);

	for (int i = 0; i < SWAP_ATTEMPTS; i++) {
		/* 0 has nothing to take away: a block was freed twice, or this is a forked child */
		if (old == OCCUPANCY_MAX || (!old && change < 0))
			return true;
		if (__atomic_compare_exchange_n(byte, &old, (uint8_t)(old + change), false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

/* All occupancy bytes of the address count it, or none. */
static bool occupancies_add(const struct hi_state *state, uint64_t address)
{
	uint8_t *occupancy = occupancy_of(state, address);

	if (!occupancy_add(occupancy, 1))
		return false;
	if (!state->unasked_occupancy ||
	    occupancy_add((uint8_t *)state->unasked_occupancy + home_of(state, address), 1))
		return true;
	occupancy_add(occupancy, -1);
	return false;
}

static void occupancies_take(const struct hi_state *state, uint64_t address)
{
	occupancy_add(occupancy_of(state, address), -1);
	if (state->unasked_occupancy)
		occupancy_add((uint8_t *)state->unasked_occupancy + home_of(state, address), -1);
}

void live_set_ask(const struct hi_state *state, uint64_t address)
{
	uint64_t hash = hash_of(address);

	for (struct level level = first_level(state); is_used(state, &level); next_level(&level))
		for (uint32_t bucket = 0; bucket < HI_BUCKET_PROBES; bucket++)
			__builtin_prefetch(window_of(&level, hash) +
					   (uint64_t)bucket * HI_BUCKET_ENTRIES);
}

enum placement { PLACED, WAS_IN, NO_ROOM };

/*
 * One pass suffices: an address that is in the window comes before the first free entry, or lies on
 * another level.
 */
static enum placement place(uint64_t *window, uint64_t address)
{
	uint64_t *room = NULL, expected = 0;

	for (unsigned i = 0; i < WINDOW; i++) {
		uint64_t entry = __atomic_load_n(&window[i], __ATOMIC_RELAXED);

		if (entry == address)
			return WAS_IN;
		if (!entry && !room)
			room = &window[i];
	}
	for (; room && room < window + WINDOW; room++, expected = 0)
		if (__atomic_compare_exchange_n(room, &expected, address, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return PLACED;
	return NO_ROOM;
}

bool live_set_add(struct hi_state *state, uint64_t address)
{
	uint64_t hash = hash_of(address);
	enum placement placement = NO_ROOM;

	if (!occupancies_add(state, address))
		return false;
	for (struct level level = first_level(state);
	     level.number < state->bucket_levels && placement == NO_ROOM; next_level(&level)) {
		/*
		 * The bit is set before the address is inserted: the thread that frees the block
		 * must search this level.
		 */
		if (!is_used(state, &level))
			__atomic_fetch_or(&state->levels_used, 1ull << level.number,
					  __ATOMIC_RELAXED);
		placement = place(window_of(&level, hash), address);
	}
	if (placement != PLACED)
		occupancies_take(state, address);
	return placement != NO_ROOM;
}

bool live_set_take(const struct hi_state *state, uint64_t address)
{
	uint64_t hash = hash_of(address);

	if (!__atomic_load_n(occupancy_of(state, address), __ATOMIC_RELAXED))
		return false;
	for (struct level level = first_level(state); is_used(state, &level); next_level(&level)) {
		uint64_t *window = window_of(&level, hash);

		for (unsigned i = 0; i < WINDOW; i++) {
			if (__atomic_load_n(&window[i], __ATOMIC_RELAXED) != address)
				continue;
			/* no other thread writes this entry, as this thread alone owns the block */
			__atomic_store_n(&window[i], 0, __ATOMIC_RELEASE);
			occupancies_take(state, address);
			return true;
		}
	}
	return false;
}

void live_set_take_sentinel(const struct hi_state *state, uint64_t address)
{
	occupancy_add(occupancy_of(state, address), -1);
}
