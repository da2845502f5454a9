/* SPDX-License-Identifier: MIT */
/*
 * place.c - see place.h. Both halves of a place are read and swapped as one word, because "free or
 * held, and by which thread" must be one answer.
 */
#include "place.h"

#include <stdbool.h>
#include <stddef.h>

#define SETS_BITS (HI_PLACE_BITS - 3)
_Static_assert(1u << 3 == HI_PLACE_WAYS, "ways");

static uint64_t word_of(uint32_t holder, uint32_t count)
{
	return holder | (uint64_t)count << 32;
}
_Static_assert(offsetof(struct hi_place, holder) == 0 && offsetof(struct hi_place, count) == 4,
	       "as a word");

/*
 * The product differs for each thread. Its upper bits choose the places that the thread may take;
 * the bits below them are the mark.
 */
static uint32_t mark_of(uint64_t thread)
{
	return (uint32_t)(thread * HI_HASH >> (64 - SETS_BITS - 32));
}

static struct hi_place *ways_of(const struct hi_state *state, uint64_t thread)
{
	return &place_table(state)->place[(thread * HI_HASH >> (64 - SETS_BITS)) * HI_PLACE_WAYS];
}

static uint64_t load(const struct hi_place *place)
{
	return __atomic_load_n((const uint64_t *)(const void *)place, __ATOMIC_RELAXED);
}

struct hi_place *place_find(const struct hi_state *state, uint64_t thread)
{
	struct hi_place *way = ways_of(state, thread);
	const uint32_t mark = mark_of(thread);
	uint64_t word;

	for (unsigned i = 0; i < HI_PLACE_WAYS; i++) {
		word = load(&way[i]);
		if (word >> 32 && (uint32_t)word == mark)
			return &way[i];
	}
	return NULL;
}

struct hi_place *place_take(const struct hi_state *state, uint64_t thread)
{
	struct hi_place *way = ways_of(state, thread);
	uint64_t word;

	for (unsigned i = 0; i < HI_PLACE_WAYS; i++) {
		word = load(&way[i]);
		if (!(word >> 32) &&
		    __atomic_compare_exchange_n((uint64_t *)(void *)&way[i], &word,
						word_of(mark_of(thread), 1), false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return &way[i];
	}
	return NULL;
}
