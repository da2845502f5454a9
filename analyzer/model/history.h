/* SPDX-License-Identifier: MIT */
/*
 * history.h - when samples were allocated and when they were freed, in a few time slices of the
 * session. This tells a leak from a full cache.
 *
 * A slice is 2^shift ns wide. A time after the last slice makes all slices twice as wide, so that a
 * session of any length fits. From the 34th millisecond on, at least sixteen slices are in use.
 * Counts are of samples; they saturate.
 *
 * A stream records many events of one slice before it comes to the next. So the current slice
 * (at_hand) is counted apart from the arrays, in the cache line that holds the shift. The arrays
 * are complete after history_settle(), and after the functions that say that they settle.
 */
#ifndef HI_HISTORY_H
#define HI_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#define HISTORY_SLICES 32u
#define HISTORY_SHIFT_FIRST 20u  /* 1.05 ms */
#define HISTORY_SHIFT_MAX 59u    /* at this width all times fit */
#define HISTORIES_MAX (1u << 18) /* some hundred megabytes; rows beyond that have no history */

struct history {
	uint32_t shift;
	uint32_t at_hand; /* the current slice */
	/* counts of the current slice that are not in the arrays yet */
	uint32_t at_hand_alloc, at_hand_live, at_hand_gone;
	uint32_t alloc[HISTORY_SLICES]; /* by the time of the allocation */
	uint32_t live[HISTORY_SLICES];  /* those of them that live at the end */
	/* by the time of the free; over all slices: the sum of alloc minus the sum of live */
	uint32_t gone[HISTORY_SLICES];
};

/*
 * All histories of a profile. Numbers are dense from 1; 0 = no history. Zero-initialized = empty.
 */
struct histories {
	struct history *history;
	size_t count, capacity;
};

void history_open(struct history *history);
void history_settle(struct history *history);
/* A sample was allocated. */
void history_add_alloc(struct history *history, uint64_t time_ns);
/* Counts a live sample that was allocated at born_ns; or takes the count back. */
void history_add_live(struct history *history, uint64_t born_ns);
void history_take_live(struct history *history, uint64_t born_ns);
/* Counts the free of a sample; or takes the count back. */
void history_add_gone(struct history *history, uint64_t time_ns);
void history_take_gone(struct history *history, uint64_t time_ns);
/* The slice of a time, after making room for it. */
uint32_t history_slice(struct history *history, uint64_t time_ns);
/* Makes the slices at least 2^shift ns wide. Settles. */
void history_widen(struct history *history, uint32_t shift);
/* Adds the counts of `from`, whose shift must not exceed HISTORY_SHIFT_MAX. Settles `to`. */
void history_add(struct history *to, const struct history *from);
/* Makes an empty history and returns its number; 0 = no room. */
uint32_t histories_new(struct histories *histories);
/* NULL: no history has that number. Valid until the next histories_new(). */
struct history *histories_get(const struct histories *histories, uint32_t number);
/* Prefetches a history that an event needs soon. */
void histories_prefetch(const struct histories *histories, uint32_t number);
void histories_close(struct histories *histories);

#endif
