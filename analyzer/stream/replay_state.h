/* SPDX-License-Identifier: MIT */
/*
 * replay_state.h - what the functions for the record types share; between the files of replay only.
 *
 * Each takes a record that is sound, and returns 0 or -ENOMEM: a record that makes no sense is told by replay_bad and skipped.
 */
#ifndef HI_REPLAY_STATE_H
#define HI_REPLAY_STATE_H

#include "hi_stream.h"
#include "live.h"
#include "modules.h"
#include "peak.h"
#include "profile.h"
#include "stack_ids.h"

#define BLOCK_BYTES_MAX (1ull << 47) /* no block of a user address space is larger, */
#define INTERVAL_MAX BLOCK_BYTES_MAX /* and to sample more seldom is not to sample at all */

/* Where allocations of this kind were counted last: the next one is, as a rule, of a kind that was seen a moment ago. */
struct replay_site {
	uint32_t stack, thread; /* as in the stream */
	uint32_t size_class;
	uint32_t part;
	uint64_t stamp; /* other than replay->stamp: of the past */
	uint16_t end;
};

struct replay_observer;

struct replay {
	struct profile *profile;
	const struct replay_observer *observer;
	struct modules modules;
	uint64_t moment; /* from 1; rises whenever a module comes or goes */
	struct stack_ids told;
	struct live live;
	struct peak peak;
	uint64_t position; /* of the record at hand */
	uint64_t bad_records;
	bool ended;
	size_t unjudged_for;      /* as many STATS the judgement may be out of date */
	size_t unhooked_count;    /* allocators told */
	uint64_t stamp;           /* from 1; rises whenever the same kind may belong elsewhere from now on */
	uint64_t sites_interval;  /* of all sites of now */
	struct replay_site *site; /* 1 << site_bits of them, by hash; NULL = none yet */
	unsigned site_bits;
};

/* The first damage is the one that is told. */
__attribute__((format(printf, 2, 3))) void replay_damage(struct replay *replay, const char *format, ...);
/* The same for the record at hand, which is counted. */
void replay_bad(struct replay *replay, const char *what);

int replay_on_stack(struct replay *replay, const struct hi_stream_stack *stack);
int replay_on_alloc(struct replay *replay, const struct hi_stream_alloc *alloc);
int replay_on_unfree(struct replay *replay, const struct hi_stream_free *record);
/* size: of what there is of the record, which is its fixed part at the least. */
int replay_events(struct replay *replay, const struct hi_stream_events *events, size_t size);

/* Of a block that was freed then, or of one that is not known. */
void replay_free(struct replay *replay, uint64_t address, uint64_t time_ns);
/* The size class in which such an allocation counts: coarse where all are counted, on a stack that has many. */
uint32_t replay_size_class(struct replay *replay, uint32_t stack, uint64_t bytes, uint64_t interval);
/* The part in which an allocation counts, and how its stack ended. 0 or -ENOMEM. */
int replay_part_of(struct replay *replay, const struct hi_stream_alloc *alloc, uint32_t *out_part, uint16_t *out_end);
/* A block of that part was allocated; its slack is as in the stream, and from then on as it is counted. */
void replay_credit(struct replay *replay, struct live_block *block, uint16_t end);
/* It lives; 0 or -ENOMEM. */
int replay_credit_live(struct replay *replay, const struct live_block *block);
/* It has been freed already. */
void replay_credit_passed(struct replay *replay, const struct live_block *block, uint64_t freed_ns);

#endif
