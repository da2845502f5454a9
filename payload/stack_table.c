/* SPDX-License-Identifier: MIT */
/*
 * stack_table.c - see stack_table.h. The way in is stack_table_id().
 *
 * Two threads that tell the same new stack at the same time may both do so: the one that comes second finds the first's number, and its own copy is waste.
 */
#include "stack_table.h"

#include <stdbool.h>

#define PROBES 8u
#define RESERVE_ATTEMPTS 16
#define UNIT 8u /* of an id */

/* In a child that a signal handler forked right here it is closed: nothing more is told (see ring.c). */
static bool is_open(const struct hi_state *state)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&state->armed, __ATOMIC_RELAXED);
}

/* Two chains, as each step waits for the multiplication of the last. */
static uint64_t hash_of(const uint64_t *frame, uint32_t count, uint16_t end)
{
	uint64_t even = count, odd = end;
	uint32_t i = 0;

	for (; i + 1 < count; i += 2) {
		even = (even ^ frame[i]) * 0xbf58476d1ce4e5b9ull;
		odd = (odd ^ frame[i + 1]) * 0x94d049bb133111ebull;
		even ^= even >> 32;
		odd ^= odd >> 32;
	}
	if (i < count)
		even = (even ^ frame[i]) * 0xbf58476d1ce4e5b9ull;
	even = (even ^ odd * HI_HASH ^ even >> 29) * 0x94d049bb133111ebull;
	return even ^ even >> 32;
}

static bool is_same(const struct hi_state *state, uint32_t id, const struct hi_stack *head, const uint64_t *frame)
{
	const struct hi_stack *known = (const struct hi_stack *)(state->stacks + (uint64_t)id * UNIT);

	if ((uint64_t)id * UNIT + sizeof(*head) + 8ull * head->frame_count > state->stacks_size || known->frame_count != head->frame_count ||
	    known->stack_end != head->stack_end)
		return false;
	for (uint32_t i = 0; i < head->frame_count; i++)
		if (known->frame[i] != frame[i])
			return false;
	return true;
}

/* Bytes from the start of the part, or 0. */
static uint64_t reserve(const struct hi_state *state, uint64_t bytes)
{
	struct hi_stacks *stacks = (struct hi_stacks *)state->stacks;
	uint64_t limit = __atomic_load_n(&stacks->limit, __ATOMIC_ACQUIRE), used = __atomic_load_n(&stacks->used, __ATOMIC_RELAXED);

	if (limit > state->stacks_size)
		limit = state->stacks_size;
	for (int i = 0; i < RESERVE_ATTEMPTS && used >= sizeof(*stacks) && used <= limit && bytes <= limit - used && used % UNIT == 0; i++) {
		if (!is_open(state))
			return 0;
		if (__atomic_compare_exchange_n(&stacks->used, &used, used + bytes, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return used;
	}
	return 0;
}

/* Writes the stack down; its id, or 0. */
__attribute__((noinline)) static uint32_t append(const struct hi_state *state, const struct hi_stack *head, const uint64_t *frame)
{
	uint64_t offset = reserve(state, sizeof(*head) + 8ull * head->frame_count);
	uint64_t *word = (uint64_t *)(state->stacks + offset);

	if (!offset || !is_open(state))
		return 0;
	__atomic_store_n(word, head->frame_count | (uint64_t)head->stack_end << 32, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < head->frame_count; i++) {
		uint64_t value = frame[i];

		if (!is_open(state))
			return 0;
		__atomic_store_n(&word[1 + i], value, __ATOMIC_RELAXED);
	}
	return (uint32_t)(offset / UNIT);
}

uint32_t stack_table_id(const struct hi_state *state, const uint64_t *frame, uint32_t count, uint16_t end)
{
	const struct hi_stack head = {.frame_count = count, .stack_end = end};
	uint64_t hash = hash_of(frame, count, end), tag = hash & ~(uint64_t)UINT32_MAX;
	uint64_t *known = (uint64_t *)state->known_stacks;
	uint32_t own = 0;

	for (uint32_t probe = 0; probe < PROBES; probe++) {
		uint64_t *place = &known[(hash + probe) & ((1ull << state->known_bits) - 1)];
		uint64_t entry = __atomic_load_n(place, __ATOMIC_ACQUIRE);

		if (!entry) {
			own = own ? own : append(state, &head, frame);
			if (!own)
				return 0;
			if (__atomic_compare_exchange_n(place, &entry, tag | own, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
				return own;
		}
		if ((entry & ~(uint64_t)UINT32_MAX) == tag && is_same(state, (uint32_t)entry, &head, frame))
			return (uint32_t)entry;
	}
	return own; /* no place to be found again by; told it is */
}
