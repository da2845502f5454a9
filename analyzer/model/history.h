/* SPDX-License-Identifier: MIT */
/*
 * history.h - when samples were taken and when they went, in a few slices of the session: what tells a leak from a cache that is full.
 *
 * A slice is 2^shift ns wide. Whoever comes later than the last slice makes all of them twice as wide, so that a session of any length fits, and from the 34th
 * millisecond on sixteen at least are in use. Counts are of samples; they saturate.
 *
 * A stream tells of one slice many times before it comes to the next, so the slice at hand is counted apart from the arrays, in the cache line where the shift
 * is. The arrays are whole after history_settle(), and after what says that it settles.
 */
#ifndef HI_HISTORY_H
#define HI_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#define HISTORY_SLICES 32u
#define HISTORY_SHIFT_FIRST 20u  /* 1.05 ms */
#define HISTORY_SHIFT_MAX 59u    /* at which all times there are fit */
#define HISTORIES_MAX (1u << 18) /* some hundred megabytes; rows beyond that have none */

struct history {
	uint32_t shift;
	uint32_t at_hand;                                   /* a slice, */
	uint32_t at_hand_alloc, at_hand_live, at_hand_gone; /* and what the arrays do not have of it yet */
	uint32_t alloc[HISTORY_SLICES];                     /* by the time of the allocation */
	uint32_t live[HISTORY_SLICES];                      /* those of them that live at the end */
	uint32_t gone[HISTORY_SLICES];                      /* by the time of the free; of all slices together: what was allocated less what lives */
};

/* All of a profile. Numbers are dense from 1; 0 is none. Zero-initialized = empty. */
struct histories {
	struct history *history;
	size_t count, capacity;
};

void history_open(struct history *history);
void history_settle(struct history *history);
/* A sample was allocated. */
void history_add_alloc(struct history *history, uint64_t time_ns);
/* One that was allocated then lives, or does not after all. */
void history_add_live(struct history *history, uint64_t born_ns);
void history_take_live(struct history *history, uint64_t born_ns);
/* One was freed, or was not after all. */
void history_add_gone(struct history *history, uint64_t time_ns);
void history_take_gone(struct history *history, uint64_t time_ns);
/* In which slice that time lies, after making room for it. */
uint32_t history_slice(struct history *history, uint64_t time_ns);
/* To slices of that width at the least; settles. */
void history_widen(struct history *history, uint32_t shift);
/* from must not be wider than a history may be. Settles. */
void history_add(struct history *to, const struct history *from);
/* A new one, empty; 0 = no room. */
uint32_t histories_new(struct histories *histories);
/* NULL where there is none of that number. Valid until the next new one. */
struct history *histories_get(const struct histories *histories, uint32_t number);
/* Something of that one happens soon. */
void histories_prefetch(const struct histories *histories, uint32_t number);
void histories_close(struct histories *histories);

#endif
