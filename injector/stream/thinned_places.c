/* SPDX-License-Identifier: MIT */
/* thinned_places.c - see thinned_places.h. A place is stack << 32 | size bits << 16 | key. */
#include "thinned_places.h"

#include <math.h>
#include <stdlib.h>

#define CAPACITY_FIRST 1024u

static uint32_t bit_width(uint64_t value)
{
	return value ? 64u - (uint32_t)__builtin_clzll(value) : 0;
}

/* Where the place is, or where there is room for it. */
static uint64_t *seek(const struct thinned_places *places, uint64_t place)
{
	size_t at = (size_t)(place * HI_HASH >> 32) & (places->capacity - 1);
	while (places->place[at] && places->place[at] != place)
		at = (at + 1) & (places->capacity - 1);
	return &places->place[at];
}

/* Without memory the table stays as it is. */
static void grow(struct thinned_places *places)
{
	struct thinned_places wider = {
		.capacity = places->capacity ? places->capacity * 2 : CAPACITY_FIRST,
		.count = places->count,
	};
	wider.place = calloc(wider.capacity, sizeof(*wider.place));
	if (!wider.place)
		return;
	for (size_t i = 0; i < places->capacity; i++)
		if (places->place[i])
			*seek(&wider, places->place[i]) = places->place[i];
	free(places->place);
	*places = wider;
}

void thinned_places_add(struct thinned_places *places, uint32_t stack, uint64_t bytes, uint32_t key)
{
	const uint64_t place = (uint64_t)stack << 32 | bit_width(bytes) << 16 | key;
	if (place == places->last || !stack || !key || key > HI_THINNING_KEYS)
		return;
	places->last = place;
	if (places->count * 2 >= places->capacity && places->count < THINNED_PLACES_MAX)
		grow(places);
	if (places->count * 2 >= places->capacity)
		return;
	uint64_t *at = seek(places, place);
	places->count += !*at;
	*at = place;
}

uint32_t thinned_places_list(const struct thinned_places *places, const struct thinned_due *due,
			     uint64_t interval, struct hi_stream_thinned_place *out_list)
{
	uint32_t count = 0;
	for (size_t i = 0; i < places->capacity; i++) {
		const uint64_t place = places->place[i];
		const uint32_t size_bits = place >> 16 & 0xff;
		const uint64_t grain =
			place ? thinned_due_grain(due, (place & 0xffff) - 1, interval,
						  ldexp(0.75, (int)size_bits))
			      : 0;
		if (grain)
			out_list[count++] =
				(struct hi_stream_thinned_place){.stack = (uint32_t)(place >> 32),
								 .size_bits = size_bits,
								 .grain = grain};
	}
	return count;
}

void thinned_places_close(struct thinned_places *places)
{
	free(places->place);
	*places = (struct thinned_places){0};
}
