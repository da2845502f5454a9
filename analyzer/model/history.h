/* SPDX-License-Identifier: MIT */
/*
 * history.h - when samples were taken and when they went, in a few slices of the session: what tells a leak from a cache that is full.
 *
 * A slice is 2^shift ns wide. Whoever comes later than the last slice makes all of them twice as wide, so that a session of any length fits, and from the 34th
 * millisecond on sixteen at least are in use. Counts are of samples; they saturate.
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
	uint32_t alloc[HISTORY_SLICES]; /* by the time of the allocation */
	uint32_t live[HISTORY_SLICES];  /* those of them that live at the end */
	uint32_t gone[HISTORY_SLICES];  /* by the time of the free; of all slices together: what was allocated less what lives */
	uint32_t shift;
};

/* All of a profile. Numbers are dense from 1; 0 is none. Zero-initialized = empty. */
struct histories {
	struct history *history;
	size_t count, capacity;
};

void history_open(struct history *history);
/* In which slice that time lies, after making room for it. */
uint32_t history_slice(struct history *history, uint64_t time_ns);
/* To slices of that width at the least. */
void history_widen(struct history *history, uint32_t shift);
/* from must not be wider than a history may be. */
void history_add(struct history *to, const struct history *from);
/* A new one, empty; 0 = no room. */
uint32_t histories_new(struct histories *histories);
/* NULL where there is none of that number. Valid until the next new one. */
struct history *histories_get(const struct histories *histories, uint32_t number);
void histories_close(struct histories *histories);

#endif
