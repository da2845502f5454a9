/* SPDX-License-Identifier: MIT */
/*
 * ring.h - the producer's side of the rings (hi_wire.h describes the protocol): reserve, fill, commit. Never waits: what does not fit is refused.
 *
 * Inline, as in exact mode each call comes through here: with a record of a known size in registers it is some forty instructions.
 */
#ifndef PAYLOAD_RING_H
#define PAYLOAD_RING_H

#include <stdbool.h>

#include "arch/arch.h"
#include "hi_wire.h"

enum ring_outcome {
	RING_COMMITTED,
	RING_FULL,   /* or so contended that it might as well be */
	RING_LOST,   /* we were away for so long that the reader gave the record up */
	RING_CLOSED, /* disarmed meanwhile, or in a child that a signal handler forked: nothing is told any more */
};

/* How much of each ring a record may fill: the last quarter is kept for frees, so that a block that was seen to come is seen to go. */
enum ring_class { RING_ORDINARY, RING_VITAL };

/* Where a thread's records go first. */
struct ring_home {
	uint32_t number; /* of a ring that all may write to, or of one that is_own */
	bool is_own;     /* no other thread ever writes to it */
};

/*
 * Appends a record to the home ring, or the next of those that all may write to that has room. `word`: the record, `count` words of it, at least a header's;
 * its size becomes that, rounded up to HI_RING_UNIT (what is between holds zeros already), whatever its first word says.
 */
enum ring_outcome ring_put(const struct hi_state *state, struct ring_home home, const uint64_t *word, uint32_t count, enum ring_class class);

#define RING_RESERVE_ATTEMPTS 128
#define RING_UNIT_WORDS (HI_RING_UNIT / 8)

/* In one piece up to the end of the unit; within the ring, whatever somebody has written to its head. */
static inline uint64_t *ring_unit_at(const struct hi_state *state, struct hi_ring *ring, uint64_t position)
{
	return (uint64_t *)(void *)(ring->data + (position & (state->ring_capacity - 1) & ~(uint64_t)(HI_RING_UNIT - 1)));
}

/*
 * A signal handler that interrupts us may fork, and its child goes on right here, with the ring of its parent. So before each unit is filled one more look: is
 * this still the process that was armed? What is stored must have been read before. A fork in the few instructions between the look and the stores has the
 * child store what its parent stores, too.
 */
static inline bool ring_is_open(const struct hi_state *state)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&state->armed, __ATOMIC_RELAXED);
}

/* Moves the head on; what it was, to be told from `head` by whoever finds another value there. */
static inline uint64_t ring_swap_head(struct hi_ring *ring, bool is_own, uint64_t head, uint64_t to)
{
	if (is_own)
		return arch_swap_alone(&ring->head, head, to);
	__atomic_compare_exchange_n(&ring->head, &head, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	return head;
}

__attribute__((always_inline)) static inline enum ring_outcome ring_reserve(const struct hi_state *state, struct hi_ring *ring, bool is_own, uint64_t size,
									    enum ring_class class, uint64_t *out_position)
{
	uint64_t limit = class == RING_VITAL ? state->ring_capacity : state->ring_capacity - state->ring_capacity / 4;
	/* An old tail makes the ring look fuller than it is, never emptier. */
	uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED), found;

	for (int i = 0; i < RING_RESERVE_ATTEMPTS && head + size - tail <= limit; i++, head = found) {
		if (!ring_is_open(state))
			return RING_CLOSED;
		found = ring_swap_head(ring, is_own, head, head + size);
		if (found == head) {
			*out_position = head;
			return RING_COMMITTED;
		}
	}
	return RING_FULL;
}

/* The words of one unit, or as many as there are. */
__attribute__((always_inline)) static inline bool ring_fill_unit(const struct hi_state *state, uint64_t *to, const uint64_t *word, uint64_t first,
								 uint32_t count)
{
	if (!ring_is_open(state))
		return false;
	__atomic_store_n(to, first, __ATOMIC_RELEASE);
#pragma GCC unroll 4
	for (uint32_t i = 1; i < RING_UNIT_WORDS && i < count; i++)
		__atomic_store_n(to + i, word[i], __ATOMIC_RELEASE);
	return true;
}

/*
 * One attempt at one ring. Before the record is filled, the line of one that comes later is asked for: the ring is larger than the caches, and the reader has
 * written there last.
 */
__attribute__((always_inline)) static inline enum ring_outcome ring_try(const struct hi_state *state, struct ring_home home, const uint64_t *word,
									uint32_t count, enum ring_class class)
{
	struct hi_ring *ring = hi_ring_at((struct hi_ring *)state->ring, state->ring_capacity, home.number);
	const uint64_t size = (count * 8ull + HI_RING_UNIT - 1) & ~(uint64_t)(HI_RING_UNIT - 1);
	const uint64_t first = size | word[0] >> 32 << 32, busy = first | HI_RING_BUSY;
	uint64_t position, found, *to;
	enum ring_outcome outcome = ring_reserve(state, ring, home.is_own, size, class, &position);

	if (outcome != RING_COMMITTED)
		return outcome;
	if (state->ring_ahead)
		__builtin_prefetch(ring_unit_at(state, ring, position + state->ring_ahead), 1, 3);
	to = ring_unit_at(state, ring, position);
	if (!ring_fill_unit(state, to, word, busy, count))
		return RING_CLOSED;
#pragma GCC unroll 1
	for (uint32_t done = RING_UNIT_WORDS; done < count; done += RING_UNIT_WORDS)
		if (!ring_fill_unit(state, ring_unit_at(state, ring, position + 8ull * done), word + done, word[done], count - done))
			return RING_CLOSED;
	if (!ring_is_open(state))
		return RING_CLOSED;
	found = arch_swap_alone(to, busy, first);
	return found == busy || found == first ? RING_COMMITTED : RING_LOST; /* committed already: by such a child */
}

#endif
