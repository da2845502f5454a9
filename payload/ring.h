/* SPDX-License-Identifier: MIT */
/*
 * ring.h - the producer's side of the rings (hi_wire.h describes the protocol): reserve, fill,
 * commit. It never waits: a record that does not fit is refused.
 *
 * Inline, because in exact mode every call passes through here. A record of a known size in
 * registers takes about forty instructions.
 */
#ifndef PAYLOAD_RING_H
#define PAYLOAD_RING_H

#include <stdbool.h>

#include "arch/arch.h"
#include "hi_wire.h"

enum ring_outcome {
	RING_COMMITTED,
	RING_FULL, /* no room, or too much contention to reserve any */
	RING_LOST, /* the producer did not run for so long that the reader gave the record up */
	/*
	 * disarmed in the meantime, or in a child that a signal handler forked: nothing is emitted
	 * any more
	 */
	RING_CLOSED,
};

/*
 * How much of each ring a record may fill. The last quarter is reserved for frees, so that the free
 * of a recorded block is recorded as well.
 */
enum ring_class { RING_ORDINARY, RING_VITAL };

/* The ring to which a thread's records go first. */
struct ring_home {
	/* number of a shared ring, or of a ring that belongs to one thread (is_own) */
	uint32_t number;
	bool is_own; /* only this thread ever writes to the ring */
};

/*
 * Appends a record to the home ring, or to the next shared ring that has room. `word` points to the
 * record, `count` words long, at least as many as a header has. The size field becomes that length,
 * rounded up to HI_RING_UNIT, whatever the record's first word says. (The padding holds zeros
 * already.)
 */
enum ring_outcome ring_put(const struct hi_state *state, struct ring_home home,
			   const uint64_t *word, uint32_t count, enum ring_class class);

#define RING_RESERVE_ATTEMPTS 128
#define RING_UNIT_WORDS (HI_RING_UNIT / 8)

/*
 * The address of the unit at this position. It is contiguous up to the end of the unit, and always
 * within the ring, whatever other code has written to the ring's head.
 */
static inline uint64_t *ring_unit_at(const struct hi_state *state, struct hi_ring *ring,
				     uint64_t position)
{
	return (uint64_t *)(void *)(ring->data + (position & (state->ring_capacity - 1) &
						  ~(uint64_t)(HI_RING_UNIT - 1)));
}

/*
 * Whether this is still the process that was armed. A signal handler that interrupts the producer
 * may fork, and the child then continues here, with the ring of its parent. So the producer checks
 * this again before it fills each unit. All values that it will store must have been read before
 * the check. If the fork happens in the few instructions between the check and the stores, the
 * child stores the same values as its parent.
 */
static inline bool ring_is_open(const struct hi_state *state)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&state->armed, __ATOMIC_RELAXED);
}

/*
 * Moves the head from `head` to `to`. Returns the value that the head had: if it differs from
 * `head`, nothing was moved.
 */
static inline uint64_t ring_swap_head(struct hi_ring *ring, bool is_own, uint64_t head, uint64_t to)
{
	if (is_own)
		return arch_swap_alone(&ring->head, head, to);
	__atomic_compare_exchange_n(&ring->head, &head, to, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
	return head;
}

__attribute__((always_inline)) static inline enum ring_outcome
ring_reserve(const struct hi_state *state, struct hi_ring *ring, bool is_own, uint64_t size,
	     enum ring_class class, uint64_t *out_position)
{
	uint64_t limit = class == RING_VITAL ? state->ring_capacity
					     : state->ring_capacity - state->ring_capacity / 4;
	/* A stale tail makes the ring look fuller than it is, never emptier. */
	uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED), found;

	for (int i = 0; i < RING_RESERVE_ATTEMPTS && head + size - tail <= limit;
	     i++, head = found) {
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

/* Stores the words of one unit, or as many as remain. False: disarmed, nothing was stored. */
__attribute__((always_inline)) static inline bool ring_fill_unit(const struct hi_state *state,
								 uint64_t *to, const uint64_t *word,
								 uint64_t first, uint32_t count)
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
 * Makes one attempt at one ring. Before it fills the record, it prefetches the cache line of a
 * later record. The ring is larger than the caches, and the reader was the last to write there.
 */
__attribute__((always_inline)) static inline enum ring_outcome
ring_try(const struct hi_state *state, struct ring_home home, const uint64_t *word, uint32_t count,
	 enum ring_class class)
{
	struct hi_ring *ring =
		hi_ring_at((struct hi_ring *)state->ring, state->ring_capacity, home.number);
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
		if (!ring_fill_unit(state, ring_unit_at(state, ring, position + 8ull * done),
				    word + done, word[done], count - done))
			return RING_CLOSED;
	if (!ring_is_open(state))
		return RING_CLOSED;
	found = arch_swap_alone(to, busy, first);
	/* == first: already committed, by a forked child as described at ring_is_open() */
	return found == busy || found == first ? RING_COMMITTED : RING_LOST;
}

#endif
