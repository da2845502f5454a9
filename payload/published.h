/* SPDX-License-Identifier: MIT */
/*
 * published.h - reading the lists that the injector publishes: the regions, and the directory of
 * unwind tables.
 *
 * A list may change while it is read, if the reading thread loses its CPU for long enough. So the
 * reader copies what it has found, then checks the list's generation again, and uses the copy only
 * if the generation is unchanged.
 */
#ifndef PAYLOAD_PUBLISHED_H
#define PAYLOAD_PUBLISHED_H

#include <stdbool.h>

#include "hi_wire.h"

/* A number that is different for each published version of a list. */
static inline uint64_t published_stamp(uint64_t generation, uint32_t index)
{
	return generation << 1 | index;
}

static inline bool published_is_being_written(uint64_t stamp)
{
	return stamp & 2;
}

static inline bool published_is_unchanged(const uint64_t *generation, uint64_t before)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !(before & 1) && __atomic_load_n(generation, __ATOMIC_RELAXED) == before;
}

#endif
