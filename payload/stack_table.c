/* SPDX-License-Identifier: MIT */
/*
 * stack_table.c - see stack_table.h. The entry point is stack_table_id().
 *
 * Two threads that intern the same new stack at the same time may both write it. The second one
 * finds the number of the first in the table and uses that; its own copy is wasted.
 */
#include "stack_table.h"

/*
 * The first FRONT_PROBES lookups use the first FRONT entries of the table; a program with some
 * thousand stacks never touches more. The other lookups use the whole table.
 */
#define FRONT (1ull << 12)
#define FRONT_PROBES 4u
#define PROBES 12u
#define RESERVE_ATTEMPTS 16
#define ID_MASK ((1ull << HI_STACK_ID_BITS) - 1)

/*
 * False after disarming, and in a child that a signal handler forked at this point: nothing more is
 * emitted (see ring_is_open() in ring.h).
 */
static bool is_open(const struct hi_state *state)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&state->armed, __ATOMIC_RELAXED);
}

/*
 * Reserves room for a stack. Returns its offset in bytes from the start of the stacks part, or 0:
 * no room.
 */
static uint64_t reserve(const struct hi_state *state, uint64_t bytes)
{
	struct hi_stacks *stacks = (struct hi_stacks *)state->stacks;
	uint64_t limit = __atomic_load_n(&stacks->limit, __ATOMIC_ACQUIRE),
		 used = __atomic_load_n(&stacks->used, __ATOMIC_RELAXED);

	if (limit > state->stacks_size)
		limit = state->stacks_size;
	for (int i = 0; i < RESERVE_ATTEMPTS && used >= sizeof(*stacks) && used <= limit &&
			bytes <= limit - used && used % HI_STACK_UNIT == 0;
	     i++) {
		if (!is_open(state))
			return 0;
		if (__atomic_compare_exchange_n(&stacks->used, &used, used + bytes, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return used;
	}
	return 0;
}

/* Appends the stack. Returns its id, or 0: no room, or disarmed. */
__attribute__((noinline)) static uint32_t append(const struct hi_state *state,
						 const struct hi_stack *head, const uint64_t *frame)
{
	uint64_t offset = reserve(state, sizeof(*head) + 8ull * head->frame_count);
	uint64_t *word = (uint64_t *)(state->stacks + offset);

	if (!offset || offset / HI_STACK_UNIT > ID_MASK || !is_open(state))
		return 0;
	__atomic_store_n(word, head->frame_count | (uint64_t)head->stack_end << 32,
			 __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < head->frame_count; i++) {
		uint64_t value = frame[i];

		if (!is_open(state))
			return 0;
		__atomic_store_n(&word[1 + i], value, __ATOMIC_RELAXED);
	}
	return (uint32_t)(offset / HI_STACK_UNIT);
}

/*
 * The hash covers the frames, their number and the end reason. Its bits are equal to those of
 * another stack's hash only by chance.
 */
static uint64_t hash_of(struct stack_end end)
{
	uint64_t hash = frames_hash(end.hash, end.count | (uint64_t)end.reason << 32) *
			0x94d049bb133111ebull;

	return hash ^ hash >> 32;
}

static uint64_t *place_of(const struct hi_state *state, uint64_t hash, uint32_t probe)
{
	uint64_t places = 1ull << state->known_bits;

	if (probe < FRONT_PROBES && places > FRONT)
		places = FRONT;
	return (uint64_t *)state->known_stacks + ((hash + probe) & (places - 1));
}

void stack_table_prefetch(const struct hi_state *state, struct stack_end end)
{
	__builtin_prefetch(place_of(state, hash_of(end), 0));
}

uint32_t stack_table_id(const struct hi_state *state, const uint64_t *frame, struct stack_end end,
			bool *out_is_new)
{
	const struct hi_stack head = {.frame_count = end.count, .stack_end = end.reason};
	uint64_t hash = hash_of(end), tag = hash & ~ID_MASK;
	uint32_t own = 0;

	*out_is_new = true;
	for (uint32_t probe = 0; probe < PROBES; probe++) {
		uint64_t *place = place_of(state, hash, probe);
		uint64_t entry = __atomic_load_n(place, __ATOMIC_ACQUIRE);

		if (!entry) {
			own = own ? own : append(state, &head, frame);
			if (!own)
				return 0;
			if (__atomic_compare_exchange_n(place, &entry, tag | own, false,
							__ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
				return own;
		}
		if ((entry & ~ID_MASK) == tag) {
			*out_is_new = own != 0;
			return (uint32_t)(entry & ID_MASK);
		}
	}
	/*
	 * all entries that this stack may take are in use: it was written, but will not be found
	 * again
	 */
	return own;
}
