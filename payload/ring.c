/* SPDX-License-Identifier: MIT */
/* ring.c - reserve, fill, commit. */
#include "ring.h"

#include <stdbool.h>

#define RESERVE_ATTEMPTS 128

typedef uint64_t __attribute__((may_alias)) record_word; /* records are copied by words, whatever their fields are */

static uint64_t *word_at(struct hi_ring *ring, uint64_t position)
{
	return (uint64_t *)(void *)(ring->data + (position & (ring->capacity - 1)));
}

/*
 * A signal handler that interrupts us may fork, and its child goes on right here, with the ring of its parent. So before each store one more look: is this still the process that was
 * armed? What is stored must have been read before. A fork in the one instruction between the look and the store has the child store what its parent stores, too.
 */
static bool is_open(const struct hi_state *state)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&state->armed, __ATOMIC_RELAXED);
}

static enum ring_outcome reserve(const struct hi_state *state, uint64_t size, enum ring_class class, uint64_t *out_position)
{
	struct hi_ring *ring = (struct hi_ring *)state->ring;
	uint64_t limit = class == RING_VITAL ? ring->capacity : ring->capacity - ring->capacity / 4;
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

enum ring_outcome ring_put(const struct hi_state *state, struct hi_record_header *record, uint32_t bytes, enum ring_class class)
{
	struct hi_ring *ring = (struct hi_ring *)state->ring;
	const record_word *word = (const record_word *)record;
	uint64_t position, first, value;
	enum ring_outcome outcome;

	record->size = (bytes + HI_RING_UNIT - 1) & ~(HI_RING_UNIT - 1);
	first = word[0];
	outcome = reserve(state, first & UINT32_MAX, class, &position);
	if (outcome != RING_COMMITTED)
		return outcome;
	for (uint32_t i = 0; i < bytes / 8; i++) {
		value = i ? word[i] : first | HI_RING_BUSY;
		if (!is_open(state))
			return RING_CLOSED;
		__atomic_store_n(word_at(ring, position + 8 * i), value, __ATOMIC_RELEASE);
	}
	value = first | HI_RING_BUSY;
	if (!is_open(state))
		return RING_CLOSED;
	if (__atomic_compare_exchange_n(word_at(ring, position), &value, first, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		return RING_COMMITTED;
	return value == first ? RING_COMMITTED : RING_LOST; /* committed already: by such a child */
}
