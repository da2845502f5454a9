/* SPDX-License-Identifier: MIT */
/*
 * place.h - the counts of threads that are inside a hook and are not alone with a slot ("who is
 * inside", hi_wire.h). A place belongs to its holder alone for the time of one hook scope and of
 * the hook scopes nested in it. The stub of the gate gives the place back by lowering its count.
 *
 * Lock-free, bounded, and safe in a signal handler, which finds the place that its thread holds. If
 * the holder leaves the hook by siglongjmp, the place is not given back, as with a slot.
 */
#ifndef PAYLOAD_PLACE_H
#define PAYLOAD_PLACE_H

#include "hi_wire.h"

/* The place that the thread holds already, NULL = none. */
struct hi_place *place_find(const struct hi_state *state, uint64_t thread);
/*
 * Takes a place for a thread that holds none, and raises its count to 1. NULL: none of the places
 * that the thread may take is free.
 */
struct hi_place *place_take(const struct hi_state *state, uint64_t thread);

static inline struct hi_thread_table *place_table(const struct hi_state *state)
{
	return (struct hi_thread_table *)state->thread_slots;
}

static inline uint32_t place_number(const struct hi_state *state, const struct hi_place *place)
{
	return (uint32_t)(place - place_table(state)->place);
}

#endif
