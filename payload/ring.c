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

static bool reserve(struct hi_ring *ring, uint64_t size, uint64_t limit, uint64_t *out_position)
{
	/* An old tail makes the ring look fuller than it is, never emptier. */
	uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);

	for (int i = 0; i < RESERVE_ATTEMPTS; i++) {
		if (head + size - tail > limit)
			return false;
		if (__atomic_compare_exchange_n(&ring->head, &head, head + size, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			*out_position = head;
			return true;
		}
	}
	return false;
}

enum ring_outcome ring_put(struct hi_ring *ring, struct hi_record_header *record, uint32_t bytes, enum ring_class class)
{
	const record_word *word = (const record_word *)record;
	uint64_t limit = class == RING_VITAL ? ring->capacity : ring->capacity - ring->capacity / 4;
	uint64_t position, first;

	record->size = (bytes + HI_RING_UNIT - 1) & ~(HI_RING_UNIT - 1);
	if (!reserve(ring, record->size, limit, &position))
		return RING_FULL;
	first = word[0] | HI_RING_BUSY;
	__atomic_store_n(word_at(ring, position), first, __ATOMIC_RELEASE);
	for (uint32_t i = 1; i < bytes / 8; i++)
		__atomic_store_n(word_at(ring, position + 8 * i), word[i], __ATOMIC_RELAXED);
	if (!__atomic_compare_exchange_n(word_at(ring, position), &first, word[0], false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		return RING_LOST;
	return RING_COMMITTED;
}
