/* SPDX-License-Identifier: MIT */
/*
 * replay_state.h - what the functions for the record types share; between replay.c and replay_blocks.c only.
 *
 * Each takes a record that is sound, and returns 0 or -ENOMEM: a record that makes no sense is told by replay_bad and skipped.
 */
#ifndef HI_REPLAY_STATE_H
#define HI_REPLAY_STATE_H

#include "hi_stream.h"
#include "live.h"
#include "modules.h"
#include "replay.h"
#include "told_stacks.h"

#define BLOCK_BYTES_MAX (1ull << 47) /* no block of a user address space is larger, */
#define INTERVAL_MAX BLOCK_BYTES_MAX /* and to sample more seldom is not to sample at all */

struct replay {
	struct profile *profile;
	const struct replay_observer *observer;
	struct modules modules;
	uint64_t moment; /* from 1; rises whenever a module comes or goes */
	struct told_stacks told;
	struct live live;
	uint64_t position; /* of the record at hand */
	uint64_t bad_records;
	bool ended;
};

/* The first damage is the one that is told. */
__attribute__((format(printf, 2, 3))) void replay_damage(struct replay *replay, const char *format, ...);
/* The same for the record at hand, which is counted. */
void replay_bad(struct replay *replay, const char *what);

int replay_on_stack(struct replay *replay, const struct hi_stream_stack *stack);
int replay_on_alloc(struct replay *replay, const struct hi_stream_alloc *alloc);
int replay_on_free(struct replay *replay, const struct hi_stream_free *record);
int replay_on_unfree(struct replay *replay, const struct hi_stream_free *record);

#endif
