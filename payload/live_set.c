/* SPDX-License-Identifier: MIT */
/* live_set.c - see live_set.h for the idea and its invariant. */
#include "live_set.h"

#define OCCUPANCY_MAX 255u
#define SWAP_ATTEMPTS 64 /* a byte that changes under us that often: give up, on the safe side */

static uint64_t home_bucket(const struct hi_state *state, uint64_t address)
{
	return address * HI_HASH_ADDRESS >> (64 - state->bucket_bits);
}

static uint64_t *entry_at(const struct hi_state *state, uint64_t home, unsigned index)
{
	uint64_t bucket = (home + index / HI_BUCKET_ENTRIES) & ((1ull << state->bucket_bits) - 1);

	return (uint64_t *)state->buckets + bucket * HI_BUCKET_ENTRIES + index % HI_BUCKET_ENTRIES;
}

/* Puts `to` where `from` is, in the first such entry that the address may lie in. */
static bool replace(const struct hi_state *state, uint64_t home, uint64_t from, uint64_t to)
{
	for (unsigned index = 0; index < HI_BUCKET_ENTRIES * HI_BUCKET_PROBES; index++) {
		uint64_t *entry = entry_at(state, home, index);
		uint64_t expected = from;

		if (__atomic_load_n(entry, __ATOMIC_RELAXED) != from)
			continue;
		if (__atomic_compare_exchange_n(entry, &expected, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static bool contains(const struct hi_state *state, uint64_t home, uint64_t address)
{
	for (unsigned index = 0; index < HI_BUCKET_ENTRIES * HI_BUCKET_PROBES; index++)
		if (__atomic_load_n(entry_at(state, home, index), __ATOMIC_RELAXED) == address)
			return true;
	return false;
}

static bool occupancy_add(const struct hi_state *state, uint64_t home, int change)
{
	uint8_t *byte = (uint8_t *)state->occupancy + home;
	uint8_t old = __atomic_load_n(byte, __ATOMIC_RELAXED);

	for (int i = 0; i < SWAP_ATTEMPTS; i++) {
		if (old == OCCUPANCY_MAX)
			return true;
		if (__atomic_compare_exchange_n(byte, &old, (uint8_t)(old + change), false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

bool live_set_insert(const struct hi_state *state, uint64_t address)
{
	uint64_t home = home_bucket(state, address);

	if (((const uint8_t *)state->occupancy)[home] && contains(state, home, address))
		return true;
	if (!occupancy_add(state, home, 1))
		return false;
	if (replace(state, home, 0, address))
		return true;
	occupancy_add(state, home, -1);
	return false;
}

bool live_set_remove(const struct hi_state *state, uint64_t address)
{
	uint64_t home = home_bucket(state, address);

	if (!__atomic_load_n((const uint8_t *)state->occupancy + home, __ATOMIC_RELAXED) || !replace(state, home, address, 0))
		return false;
	occupancy_add(state, home, -1);
	return true;
}
