/* SPDX-License-Identifier: MIT */
/* ring.c - reserve, fill, commit. */
#include "ring.h"

#include <stdbool.h>

#include "arch/arch.h"

#define RESERVE_ATTEMPTS 128
#define UNIT_WORDS (HI_RING_UNIT / 8)

typedef uint64_t __attribute__((may_alias)) record_word; /* records are copied by words, whatever their fields are */

/* In one piece up to the end of the unit; within the ring, whatever somebody has written to its head. */
static inline uint64_t *unit_at(const struct hi_state *state, struct hi_ring *ring, uint64_t position)
{
	return (uint64_t *)(void *)(ring->data + (position & (state->ring_capacity - 1) & ~(uint64_t)(HI_RING_UNIT - 1)));
}

/*
 * A signal handler that interrupts us may fork, and its child goes on right here, with the ring of its parent. So before each store one more look: is this
 * still the process that was armed? What is stored must have been read before. A fork in the one instruction between the look and the store has the child store
 * what its parent stores, too.
 */
static inline bool is_open(const struct hi_state *state)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&state->armed, __ATOMIC_RELAXED);
}

/* False: nothing is told any more. */
static inline bool store(const struct hi_state *state, uint64_t *to, uint64_t value)
{
	if (!is_open(state))
		return false;
	__atomic_store_n(to, value, __ATOMIC_RELEASE);
	return true;
}

static inline enum ring_outcome reserve(const struct hi_state *state, struct hi_ring *ring, uint64_t size, enum ring_class class, uint64_t *out_position)
{
	uint64_t limit = class == RING_VITAL ? state->ring_capacity : state->ring_capacity - state->ring_capacity / 4;
	/* An old tail makes the ring look fuller than it is, never emptier. */
	uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);

	for (int i = 0; i < RESERVE_ATTEMPTS && head + size - tail <= limit; i++) {
		if (!is_open(state))
			return RING_CLOSED;
		if (__atomic_compare_exchange_n(&ring->head, &head, head + size, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			*out_position = head;
			return RING_COMMITTED;
		}
	}
	return RING_FULL;
}

/*
 * The ring is larger than the caches, and the reader has written there last: without this each locked instruction from here on waits until that line is back.
 */
static inline void prepare_next(const struct hi_state *state, struct hi_ring *ring, uint64_t position)
{
	if (state->ring_ahead)
		__builtin_prefetch(unit_at(state, ring, position + state->ring_ahead), 1, 3);
}

/* Unit by unit: that is where a record may wrap. */
static inline bool fill(const struct hi_state *state, struct hi_ring *ring, uint64_t position, const record_word *word, uint64_t first, uint32_t count)
{
	uint64_t *to = unit_at(state, ring, position);

	while (count >= UNIT_WORDS) {
		if (!store(state, to, first) || !store(state, to + 1, word[1]) || !store(state, to + 2, word[2]) || !store(state, to + 3, word[3]))
			return false;
		position += HI_RING_UNIT;
		word += UNIT_WORDS;
		count -= UNIT_WORDS;
		to = unit_at(state, ring, position);
		first = count ? word[0] : 0;
	}
	return (count < 1 || store(state, to, first)) && (count < 2 || store(state, to + 1, word[1])) && (count < 3 || store(state, to + 2, word[2]));
}

static enum ring_outcome put(const struct hi_state *state, struct hi_ring *ring, const struct hi_record_header *record, uint32_t bytes, enum ring_class class)
{
	uint64_t size = (bytes + HI_RING_UNIT - 1) & ~(uint64_t)(HI_RING_UNIT - 1);
	uint64_t first = size | (uint64_t)record->type_busy << 32, busy = first | HI_RING_BUSY, position, found;
	enum ring_outcome outcome = reserve(state, ring, size, class, &position);

	if (outcome != RING_COMMITTED)
		return outcome;
	prepare_next(state, ring, position);
	if (!fill(state, ring, position, (const record_word *)record, busy, bytes / 8) || !is_open(state))
		return RING_CLOSED;
	found = arch_swap_alone(unit_at(state, ring, position), busy, first);
	return found == busy || found == first ? RING_COMMITTED : RING_LOST; /* committed already: by such a child */
}

enum ring_outcome ring_put(const struct hi_state *state, uint64_t home, const struct hi_record_header *record, uint32_t bytes, enum ring_class class)
{
	struct hi_ring *rings = (struct hi_ring *)state->ring;
	uint64_t mask = state->ring_mask;
	enum ring_outcome outcome = RING_FULL;

	for (uint64_t i = 0; i <= mask && outcome == RING_FULL; i++)
		outcome = put(state, hi_ring_at(rings, state->ring_capacity, (home + i) & mask), record, bytes, class);
	return outcome;
}
