/* SPDX-License-Identifier: MIT */
/*
 * replay_blocks.c - the records of stacks and blocks: on which stack each sample was allocated, and
 * whether it is live.
 *
 * A block counts in the row that it was allocated in until a FREE removes it, or an ALLOC at the
 * same address, if its free was missed.
 */
#include <errno.h>
#include <inttypes.h>

#include "records.h"
#include "replay_state.h"
#include "row_history.h"

/*
 * Bounds against streams that never end and never repeat themselves. Beyond them everything is
 * still counted, but not told apart any more. Some hundred megabytes.
 */
#define STACKS_MAX (1u << 19)
#define FRAMES_MAX (1u << 20)
#define INTERNED_FRAMES_MAX (1u << 25)
#define LIVE_MAX (1u << 28) /* more than any session has; memory runs out before */
/*
 * on one stack: from then on fewer size classes are told apart, because rows that the CPU's caches
 * do not hold cost the program time, too
 */
#define SIZES_MANY 32u
/* HI_END_BAD_FRAME of hi_wire.h: the stack is not complete; no more is known */
#define END_UNKNOWN 4u
/* the frame of a stack without frames: the text format cannot say "none" */
#define UNKNOWN_ADDRESS 1u

static bool stacks_are_full(struct replay *replay)
{
	if (replay->profile->stack_count < STACKS_MAX && replay->profile->frame_count < FRAMES_MAX)
		return false;
	replay_damage(replay,
		      "too long: from byte %" PRIu64
		      " on, after %u different stacks, samples are shown without theirs",
		      replay->position, STACKS_MAX);
	return true;
}

/* The frames of a stack, leaf first. */
struct frames {
	const uint64_t *address;
	uint32_t count;
	bool is_sure; /* the modules that come and go are known */
};

static int intern_stack(struct replay *replay, const struct frames *frames, uint16_t end,
			uint32_t *out_stack)
{
	uint32_t frame[RECORDS_FRAMES_MAX], count = frames->count;

	if (stacks_are_full(replay))
		count = 0;
	for (uint32_t i = 0; i < count; i++) {
		/*
		 * The byte before a return address belongs to the call; the address itself may lie
		 * in the next function, or in no module.
		 */
		const uint64_t address = frames->address[i];

		if (profile_frame_at(replay->profile, address,
				     modules_find(&replay->modules, address - 1, frames->is_sure),
				     &frame[i]))
			return -ENOMEM;
	}
	if (count == 0 && profile_frame_at(replay->profile, UNKNOWN_ADDRESS, -1, &frame[count++]))
		return -ENOMEM;
	return profile_stack_of(replay->profile, frame, count, end, out_stack);
}

/*
 * The stack that the record names or carries. A stack that no record has introduced becomes a stack
 * of one unknown frame.
 */
int replay_stack_of(struct replay *replay, const struct hi_stream_alloc *alloc, uint32_t *out_stack,
		    uint16_t *out_end)
{
	struct interned_stack *interned = stack_ids_get(&replay->stack_ids, alloc->stack);

	*out_end = interned       ? interned->end
		   : alloc->stack ? END_UNKNOWN
				  : alloc->record.flags & 0xff;
	if (!interned && alloc->stack) {
		replay_bad(replay, "an allocation with a stack that was not told");
		return intern_stack(replay, &(struct frames){.count = 0}, END_UNKNOWN, out_stack);
	}
	if (!interned)
		return intern_stack(replay,
				    &(struct frames){(const uint64_t *)(alloc + 1),
						     alloc->frame_count,
						     !(alloc->record.flags & HI_STREAM_UNSURE)},
				    *out_end, out_stack);
	if (interned->moment != replay->moment) {
		if (intern_stack(replay,
				 &(struct frames){interned->frame, interned->frame_count, true},
				 interned->end, &interned->profile_stack))
			return -ENOMEM;
		interned->moment = replay->moment;
	}
	*out_stack = interned->profile_stack;
	return 0;
}

int replay_on_stack(struct replay *replay, const struct hi_stream_stack *stack)
{
	bool is_too_much = replay->stack_ids.frame_count >= INTERNED_FRAMES_MAX;

	if (stack->stack != replay->stack_ids.count + 1) {
		replay_bad(replay, "a stack out of turn");
		return 0;
	}
	if (stack->stack > STACKS_MAX)
		return 0; /* an ALLOC that names it finds no stack */
	return stack_ids_add(&replay->stack_ids, (const void *)(stack + 1),
			     is_too_much ? 0 : stack->frame_count, stack->record.flags & 0xff);
}

static struct profile_row *row_of(const struct profile *profile, const struct live_block *block)
{
	return &profile->row[profile->breakdown.part[block->part].row];
}

static void uncredit(struct replay *replay, const struct live_block *block, uint64_t time_ns)
{
	struct profile *profile = replay->profile;
	struct profile_row *row = row_of(profile, block);
	struct part *part = &profile->breakdown.part[block->part];

	row_history_died(profile, row, block->born_ns, time_ns);
	row->inuse_count--;
	row->inuse_bytes -= block->bytes;
	row->inuse_slack -= block->slack;
	row->inuse_ns -= (double)block->born_ns;
	part->inuse_count--;
	part->inuse_bytes -= block->bytes;
	peak_freed(&replay->peak, peak_weight(&replay->peak, block->bytes, row->key.interval));
}

int replay_credit_live(struct replay *replay, const struct live_block *block)
{
	struct profile_row *row = row_of(replay->profile, block);
	struct part *part = &replay->profile->breakdown.part[block->part];
	struct live_block *place = live_place(&replay->live, block->address);

	if (!place)
		return -ENOMEM;
	if (place->address) {
		uncredit(replay, place, block->born_ns); /* its free was missed */
		replay->profile->meta.missed_frees++;
	} else if (replay->live.count >= LIVE_MAX) {
		replay_bad(replay, "more blocks in use than can be");
		row_history_passed(replay->profile, row, block->born_ns, block->born_ns);
		return 0;
	} else {
		replay->live.count++;
	}
	*place = *block;
	row_history_lives(replay->profile, row, block->born_ns);
	row->inuse_count++;
	row->inuse_bytes += block->bytes;
	row->inuse_slack += block->slack;
	row->inuse_ns += (double)block->born_ns;
	part->inuse_count++;
	part->inuse_bytes += block->bytes;
	peak_allocated(&replay->peak, block->born_ns,
		       peak_weight(&replay->peak, block->bytes, row->key.interval));
	return 0;
}

static void count_end(struct profile_meta *meta, unsigned end)
{
	if (end == HI_END_COMPLETE)
		meta->stacks_complete++;
	else
		meta->stacks_truncated++;
	if (end != HI_END_COMPLETE && end < HI_STACK_ENDS)
		meta->stack_ends[end]++;
}

/* Unknown slack counts as 0. meta.slack_samples says for how many samples it is known. */
static uint32_t credit_slack(struct profile *profile, uint32_t slack)
{
	if (slack == HI_STREAM_SLACK_UNKNOWN)
		return 0;
	profile->meta.slack_samples++;
	return slack;
}

void replay_credit(struct replay *replay, struct live_block *block, uint16_t end)
{
	struct profile *profile = replay->profile;
	struct profile_row *row = row_of(profile, block);
	struct part *part = &profile->breakdown.part[block->part];

	block->slack = credit_slack(profile, block->slack);
	row_history_allocated(profile, row, block->born_ns);
	row->first_ns = row->alloc_count ? row->first_ns : block->born_ns;
	row->last_ns = block->born_ns;
	row->alloc_count++;
	row->alloc_bytes += block->bytes;
	row->alloc_slack += block->slack;
	part->alloc_count++;
	part->alloc_bytes += block->bytes;
	profile->meta.samples++;
	count_end(&profile->meta, end);
}

uint32_t replay_size_class(struct replay *replay, uint32_t stack, uint64_t bytes, uint64_t interval)
{
	const struct interned_stack *interned =
		interval == HI_INTERVAL_EXACT ? stack_ids_get(&replay->stack_ids, stack) : NULL;

	return interned && interned->sizes >= SIZES_MANY ? profile_coarse_size_class(bytes)
							 : profile_size_class(bytes);
}

int replay_part_of(struct replay *replay, const struct hi_stream_alloc *alloc, uint32_t *out_part,
		   uint16_t *out_end)
{
	const size_t rows = replay->profile->row_count;
	struct interned_stack *interned = stack_ids_get(&replay->stack_ids, alloc->stack);
	struct profile_row_key key = {
		.size_class =
			replay_size_class(replay, alloc->stack, alloc->bytes, alloc->interval),
		.interval = alloc->interval,
	};
	uint32_t row;

	if (replay_stack_of(replay, alloc, &key.stack, out_end) ||
	    profile_row_at(replay->profile, &key, &row))
		return -ENOMEM;
	if (interned && interned->sizes < SIZES_MANY)
		interned->sizes += replay->profile->row_count > rows;
	return thread_breakdown_at(&replay->profile->breakdown, row, alloc->thread, out_part);
}

int replay_on_alloc(struct replay *replay, const struct hi_stream_alloc *alloc)
{
	struct live_block block = {.address = alloc->address,
				   .bytes = alloc->bytes,
				   .born_ns = replay_since(replay, alloc->time_ns),
				   .slack = alloc->slack};
	uint16_t end;

	if (alloc->address == 0 || alloc->bytes > BLOCK_BYTES_MAX || alloc->interval == 0 ||
	    alloc->interval > INTERVAL_MAX) {
		replay_bad(replay,
			   "an allocation of an impossible size, address or sampling interval");
		return 0;
	}
	int err = replay_observe_alloc(replay, alloc);
	if (!err)
		err = replay_part_of(replay, alloc, &block.part, &end);
	if (err)
		return err;
	replay_credit(replay, &block, end);
	return replay_credit_live(replay, &block);
}

/* Clocks of different CPUs may disagree by a little. */
static double lifetime_ns(const struct live_block *block, uint64_t freed_ns)
{
	return freed_ns > block->born_ns ? (double)(freed_ns - block->born_ns) : 0;
}

static void credit_freed(struct profile *profile, const struct live_block *block, uint64_t freed_ns)
{
	struct profile_row *row = row_of(profile, block);

	row->freed_count++;
	row->freed_ns += lifetime_ns(block, freed_ns);
	profile->meta.frees++;
}

void replay_credit_passed(struct replay *replay, const struct live_block *block, uint64_t freed_ns)
{
	const struct profile_row *row = row_of(replay->profile, block);
	struct live_block missed;

	if (live_drop(&replay->live, block->address, &missed)) {
		uncredit(replay, &missed, block->born_ns);
		replay->profile->meta.missed_frees++;
	}
	row_history_passed(replay->profile, row, block->born_ns, freed_ns);
	peak_passed(&replay->peak, block->born_ns, freed_ns,
		    peak_weight(&replay->peak, block->bytes, row->key.interval));
	credit_freed(replay->profile, block, freed_ns);
	live_pass(&replay->live, block, freed_ns);
}

void replay_free(struct replay *replay, uint64_t address, uint64_t time_ns)
{
	struct live_block block;

	/* An unknown address is no damage: its allocation may have been dropped. */
	if (!live_take(&replay->live, address, time_ns, &block)) {
		replay_free_forgotten(replay, address);
		return;
	}
	uncredit(replay, &block, time_ns);
	credit_freed(replay->profile, &block, time_ns);
}

int replay_on_unfree(struct replay *replay, const struct hi_stream_free *record)
{
	struct live_freed freed;
	struct profile_row *row;
	const int err = replay_observe_free(replay, record);

	if (err)
		return err;
	/* If a block is live at the address, no freed one came back. */
	if (live_has(&replay->live, record->address) ||
	    !live_put_back(&replay->live, record->address, &freed))
		return 0;
	row = row_of(replay->profile, &freed.block);
	row_history_came_back(replay->profile, row, freed.block.born_ns, freed.freed_ns);
	row->freed_count--;
	row->freed_ns -= lifetime_ns(&freed.block, freed.freed_ns);
	replay->profile->meta.frees--;
	/* it was counted as allocated before */
	replay->peak.allocated -= peak_weight(&replay->peak, freed.block.bytes, row->key.interval);
	return replay_credit_live(replay, &freed.block);
}
