/* SPDX-License-Identifier: MIT */
/*
 * thinned_places.h - which keys of struct hi_thinning (hi_wire.h) the samples of each stack and
 * size had. Zero-initialized = empty.
 */
#ifndef HI_INJECTOR_THINNED_PLACES_H
#define HI_INJECTOR_THINNED_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "hi_stream.h"
#include "hi_wire.h"
#include "thinned_due.h"

/* places beyond these are not remembered */
#define THINNED_PLACES_MAX 65536u

struct thinned_places {
	uint64_t *place; /* a hash table; 0 = free */
	size_t count, capacity;
	uint64_t last; /* the place of the last sample */
};

/*
 * A sample of so many bytes. stack: its number in the stream. key: as in its record, the index + 1.
 * A stack of 0 and a key that cannot be are ignored; a place for which there is no room is not
 * remembered.
 */
void thinned_places_add(struct thinned_places *places, uint32_t stack, uint64_t bytes,
			uint32_t key);
/*
 * Fills the variable part of a record: places of keys that were thinned. interval: the finest.
 * out_list has room for places->count. Returns how many.
 */
uint32_t thinned_places_list(const struct thinned_places *places, const struct thinned_due *due,
			     uint64_t interval, struct hi_stream_thinned_place *out_list);
void thinned_places_close(struct thinned_places *places);

#endif
