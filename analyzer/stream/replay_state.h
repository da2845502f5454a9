/* SPDX-License-Identifier: MIT */
/*
 * replay_state.h - what the functions for the record types share; only for the files of replay.
 *
 * Each of them takes a sound record, and returns 0, -ENOMEM or an observer's error. A record that
 * makes no sense is reported by replay_bad() and skipped.
 */
#ifndef HI_REPLAY_STATE_H
#define HI_REPLAY_STATE_H

#include "hi_stream.h"
#include "live.h"
#include "modules.h"
#include "peak.h"
#include "profile.h"
#include "stack_ids.h"

/* of addresses, of whatever CPU the stream is */
#define ADDRESS_END (1ull << HI_STREAM_EVENT_ADDRESS_BITS)
#define BLOCK_BYTES_MAX ADDRESS_END
#define INTERVAL_MAX BLOCK_BYTES_MAX /* with a larger interval nothing would be sampled */

/*
 * The part in which allocations of this kind were counted last. Most allocations are of a kind that
 * was seen a moment ago.
 */
struct replay_site {
	uint32_t stack, thread; /* as in the stream */
	uint32_t size_class;
	uint32_t part;
	uint64_t stamp; /* if it differs from replay->stamp, the site is out of date */
	uint16_t end;
};

struct replay_observer;

struct replay {
	struct profile *profile;
	const struct replay_observer *observer;
	struct modules modules;
	uint64_t moment; /* from 1; rises whenever a module comes or goes */
	struct stack_ids stack_ids;
	struct live live;
	struct peak peak;
	uint64_t position; /* byte position of the current record */
	uint64_t bad_records;
	bool ended;
	size_t unjudged_for;   /* for as many STATS records more the judgement may be out of date */
	size_t unhooked_count; /* UNHOOKED records so far */
	/* from 1; rises whenever the same kind may belong to another part from now on */
	uint64_t stamp;
	uint64_t sites_interval; /* of all sites that are not out of date */
	/* of the last RESET; all else here is about what was before it */
	uint64_t epoch_ns;
	struct live forgotten; /* live samples from before; born_ns is their interval */
	struct profile_freed forgotten_freed[HI_SIZE_CLASSES];
	struct profile_freed freed_before[HI_SIZE_CLASSES], freed_last[HI_SIZE_CLASSES];
	struct hi_stream_stats stats_before, stats_last;
	bool is_paused;
	uint64_t paused_at_ns, paused_ns; /* since the epoch; the sum of pauses that have ended */
	struct replay_site *site;         /* 1 << site_bits of them, by hash; NULL = none yet */
	unsigned site_bits;
};

/* Sets meta.damage, unless an earlier damage has set it. */
__attribute__((format(printf, 2, 3))) void replay_damage(struct replay *replay, const char *format,
							 ...);
/* The same for the current record, which counts as bad. */
void replay_bad(struct replay *replay, const char *what);

int replay_on_stack(struct replay *replay, const struct hi_stream_stack *stack);
int replay_on_alloc(struct replay *replay, const struct hi_stream_alloc *alloc);
/* The stack that the record names or carries, and how it ended. */
int replay_stack_of(struct replay *replay, const struct hi_stream_alloc *alloc, uint32_t *out_stack,
		    uint16_t *out_end);
int replay_on_mapped(struct replay *replay, const struct hi_stream_alloc *mapped);
int replay_on_mapping(struct replay *replay, const struct hi_stream_mapping *mapping);
int replay_on_pooled(struct replay *replay, const struct hi_stream_alloc *pooled);
int replay_on_pool(struct replay *replay, const struct hi_stream_pool *record);
int replay_on_named(struct replay *replay, const struct hi_stream_named *record);
/* Forgets what of the sampled mappings is not in meta.maps, which was read at time_ns. */
int replay_mappings_settle(struct replay *replay, uint64_t time_ns);
int replay_on_unfree(struct replay *replay, const struct hi_stream_free *record);
/* size: bytes of the record that are there, at least its fixed part. */
int replay_events(struct replay *replay, const struct hi_stream_events *events, size_t size);
/* Show them to the observer, if it wants to see them: replay_observed.c. 0, or its error. */
int replay_observe_events(const struct replay *replay, const struct hi_stream_events *events,
			  size_t size);
int replay_observe_alloc(const struct replay *replay, const struct hi_stream_alloc *alloc);
int replay_observe_free(const struct replay *replay, const struct hi_stream_free *record);

/* A time of a record, since the last RESET. */
uint64_t replay_since(const struct replay *replay, uint64_t time_ns);
void replay_on_reset(struct replay *replay, const struct hi_stream_reset *record);
void replay_on_pause(struct replay *replay, const struct hi_stream_pause *record);
/* Counts a pause that goes on, too. */
void replay_settle_pause(struct replay *replay);
/* A block was freed that is no live sample: it may have been one before the last RESET. */
void replay_free_forgotten(struct replay *replay, uint64_t address);
/* Totals since the beginning of the session, of STATS and of UNSAMPLED_FREES. */
void replay_set_stats(struct replay *replay, const struct hi_stream_stats *stats);
void replay_set_freed(struct replay *replay, uint32_t size_class,
		      const struct profile_freed *total);

/* The block at this address was freed at time_ns. The address may be unknown. */
void replay_free(struct replay *replay, uint64_t address, uint64_t time_ns);
/*
 * The size class in which an allocation counts. It is coarse if every allocation is counted, on a
 * stack that has many size classes.
 */
uint32_t replay_size_class(struct replay *replay, uint32_t stack, uint64_t bytes,
			   uint64_t interval);
/* The part in which an allocation counts, and how its stack ended. 0 or -ENOMEM. */
int replay_part_of(struct replay *replay, const struct hi_stream_alloc *alloc, uint32_t *out_part,
		   uint16_t *out_end);
/*
 * Counts the allocation of a block in its part. On entry block->slack is as in the stream; on
 * return it is as counted: 0 if unknown.
 */
void replay_credit(struct replay *replay, struct live_block *block, uint16_t end);
/* Counts the block as live. 0 or -ENOMEM. */
int replay_credit_live(struct replay *replay, const struct live_block *block);
/* Counts the block as freed already, at freed_ns. */
void replay_credit_passed(struct replay *replay, const struct live_block *block, uint64_t freed_ns);

#endif
