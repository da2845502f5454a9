/* SPDX-License-Identifier: MIT */
/*
 * replay_reset.c - RESET and PAUSE records. After a RESET the profile is that of a session that
 * begins there: it knows nothing of what was allocated before.
 *
 * Frames, stacks, modules and threads stay, as later records name them by their numbers. The
 * samples that were live are forgotten, but not as blocks: when one is freed, it is a block from
 * before the profile that was freed, and counts among these (meta.unsampled_freed). Otherwise what
 * takes the place of such blocks would look like growth.
 */
#include <stdlib.h>
#include <string.h>

#include "caveats.h"
#include "estimate.h"
#include "replay_state.h"

uint64_t replay_since(const struct replay *replay, uint64_t time_ns)
{
	return time_ns > replay->epoch_ns ? time_ns - replay->epoch_ns : 0;
}

/* ---- pauses ---------------------------------------------------------------------------------- */

void replay_on_pause(struct replay *replay, const struct hi_stream_pause *record)
{
	struct profile_meta *meta = &replay->profile->meta;
	const bool begins = record->record.flags & HI_STREAM_PAUSE_BEGINS;
	const uint64_t now_ns = replay_since(replay, record->time_ns);

	if (begins == replay->is_paused)
		return;
	replay->is_paused = begins;
	if (begins)
		replay->paused_at_ns = now_ns;
	else if (now_ns > replay->paused_at_ns)
		replay->paused_ns += now_ns - replay->paused_at_ns;
	meta->paused_ns = replay->paused_ns;
}

void replay_settle_pause(struct replay *replay)
{
	struct profile_meta *meta = &replay->profile->meta;

	meta->paused_ns = replay->paused_ns;
	if (replay->is_paused && meta->duration_ns > replay->paused_at_ns)
		meta->paused_ns += meta->duration_ns - replay->paused_at_ns;
}

/* ---- blocks from before ---------------------------------------------------------------------- */

/* The interval takes the place of the time. Without memory for it a block is not remembered. */
static void forget(struct replay *replay, const struct live_block *block, uint64_t interval)
{
	struct live_block *place = live_place(&replay->forgotten, block->address);

	if (!place)
		return;
	replay->forgotten.count += !place->address;
	*place = *block;
	place->born_ns = interval;
}

static void forget_live(struct replay *replay)
{
	const struct profile *profile = replay->profile;

	const struct live_block *block;

	for (size_t at = 0; (block = live_next(&replay->live, &at));)
		forget(replay, block,
		       profile->row[profile->breakdown.part[block->part].row].key.interval);
}

static void add_freed(struct profile_freed *freed, double weight, uint64_t bytes)
{
	freed->seen++;
	freed->count += estimate_round(weight / (double)(bytes ? bytes : 1));
	freed->bytes += estimate_round(weight);
}

void replay_free_forgotten(struct replay *replay, uint64_t address)
{
	struct live_block block;

	if (!replay->forgotten.count || !live_drop(&replay->forgotten, address, &block))
		return;
	const uint64_t usable = block.bytes + block.slack;
	const uint32_t size_class = hi_size_class(usable);
	const double weight = peak_weight(&replay->peak, block.bytes, block.born_ns) *
			      (block.bytes ? (double)usable / (double)block.bytes : 1);

	add_freed(&replay->forgotten_freed[size_class], weight, usable);
	add_freed(&replay->profile->meta.unsampled_freed[size_class], weight, usable);
}

/* What is counted from the beginning of the session, as of now. */
static uint64_t less(uint64_t total, uint64_t before)
{
	return total > before ? total - before : 0;
}

void replay_set_freed(struct replay *replay, uint32_t size_class, const struct profile_freed *total)
{
	const struct profile_freed *before = &replay->freed_before[size_class],
				   *forgotten = &replay->forgotten_freed[size_class];

	replay->freed_last[size_class] = *total;
	replay->profile->meta.unsampled_freed[size_class] = (struct profile_freed){
		.seen = less(total->seen, before->seen) + forgotten->seen,
		.count = less(total->count, before->count) + forgotten->count,
		.bytes = less(total->bytes, before->bytes) + forgotten->bytes,
	};
}

void replay_set_stats(struct replay *replay, const struct hi_stream_stats *stats)
{
	struct profile_meta *meta = &replay->profile->meta;
	const struct hi_stream_stats *before = &replay->stats_before;

	replay->stats_last = *stats;
	meta->dropped_allocs = less(stats->dropped_allocs, before->dropped_allocs);
	meta->dropped_frees = less(stats->dropped_frees, before->dropped_frees);
	meta->live_set_full = less(stats->live_set_full, before->live_set_full);
	meta->no_thread_slot = less(stats->no_thread_slot, before->no_thread_slot);
	meta->passed_bytes = less(stats->passed_bytes, before->passed_bytes);
	meta->payload_cpu_ns = less(stats->payload_cpu_ns, before->payload_cpu_ns);
	meta->target_cpu_ns = less(stats->target_cpu_ns, before->target_cpu_ns);
}

/* ---- reset ----------------------------------------------------------------------------------- */

/* Keeps what describes the process and the session. */
static void reset_meta(struct profile_meta *meta, uint64_t start_unix_ns)
{
	const struct profile_change last =
		meta->change_count ? meta->change[(meta->change_count < PROFILE_CHANGES_MAX
							   ? meta->change_count
							   : PROFILE_CHANGES_MAX) -
						  1]
				   : (struct profile_change){0};

	caveats_clear(meta);
	free(meta->maps);
	meta->maps = NULL; /* the next one is the first */
	meta->resets++;
	meta->start_unix_ns = start_unix_ns;
	meta->duration_ns = 0;
	meta->peak_inuse_bytes = meta->peak_ns = 0;
	meta->seen_allocated = meta->seen_inuse = 0;
	meta->samples = meta->frees = meta->missed_frees = meta->slack_samples = 0;
	meta->stacks_complete = meta->stacks_truncated = 0;
	memset(meta->stack_ends, 0, sizeof(meta->stack_ends));
	meta->memory = (struct profile_memory){0};
	meta->moment_count = 0;
	meta->moment_step_ns = 0;
	heap_history_close(&meta->heap);
	memset(meta->unsampled_freed, 0, sizeof(meta->unsampled_freed));
	meta->paused_ns = 0;
	meta->change_count = 0;
	if (last.interval)
		profile_add_change(meta, &(struct profile_change){0, last.interval});
}

void replay_on_reset(struct replay *replay, const struct hi_stream_reset *record)
{
	struct profile *profile = replay->profile;

	forget_live(replay);
	live_close(&replay->live);
	replay->live = (struct live){0};
	replay->peak = (struct peak){0};
	replay->stamp++;
	replay->unjudged_for = 0;
	replay->stats_before = replay->stats_last;
	memcpy(replay->freed_before, replay->freed_last, sizeof(replay->freed_before));
	memset(replay->forgotten_freed, 0, sizeof(replay->forgotten_freed));
	replay->epoch_ns = record->time_ns;
	replay->paused_ns = replay->paused_at_ns = 0;
	profile_forget(profile);
	reset_meta(&profile->meta, record->start_unix_ns);
	replay_set_stats(replay, &replay->stats_last);
}
