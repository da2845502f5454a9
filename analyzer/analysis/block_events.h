/* SPDX-License-Identifier: MIT */
/*
 * block_events.h - when the bytes of a profile were allocated and freed, as a list of events.
 *
 * A profile has no single blocks, but the history of each row (history.h). What was allocated in
 * one slice of a row and freed in one other, or not at all, is one block here, with a number of its
 * own. Which of the blocks of a row were freed first is unknown: here those are that were allocated
 * first. Of a row without a history it is known at most when what is in use was allocated: all
 * else happens at time 0.
 *
 * Weights are estimates in whole bytes. What is allocated adds up to the estimates of what was
 * allocated, and what is allocated and not freed to the estimates of what is in use, each to half a
 * byte a row.
 */
#ifndef HI_BLOCK_EVENTS_H
#define HI_BLOCK_EVENTS_H

#include "profile.h"

struct block_event {
	uint64_t time_ns; /* since the start of the session */
	uint64_t block;   /* from 1; the two events of a block have the same */
	int64_t bytes;    /* never 0; negative: freed */
	uint32_t row;
};
struct block_events {
	struct block_event *event; /* in the order of time */
	size_t count, capacity;
	uint64_t blocks;
};

/* 0 or -ENOMEM. The profile is no comparison. */
int block_events_open(const struct profile *profile, struct block_events *out_events);
void block_events_close(struct block_events *events);

#endif
