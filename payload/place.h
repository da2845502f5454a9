/* SPDX-License-Identifier: MIT */
/*
 * place.h - where a thread that is not alone with a slot is counted while it is inside a hook ("who is inside", hi_wire.h). A place is its holder's alone, for
 * the time of one visit and of those nested in it; the stub of the gate gives it back by lowering its count.
 *
 * Lock-free, bounded, and safe in a signal handler, which finds the place that the thread holds. Who holds one may be killed by siglongjmp out of the hook:
 * then all its later visits are nested ones, as with a slot.
 */
#ifndef PAYLOAD_PLACE_H
#define PAYLOAD_PLACE_H

#include "hi_wire.h"

/* The place that the thread holds already, NULL = none. */
struct hi_place *place_find(const struct hi_state *state, uint64_t thread);
/* A place for a thread that holds none, its count raised to 1. NULL: none of those that it may take is free. */
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
