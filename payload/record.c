/* SPDX-License-Identifier: MIT */
/* record.c - builds records and puts them into the rings. */
#include "record.h"

#include "clock.h"
#include "known_walk.h"
#include "ring.h"
#include "stack_table.h"
#include "thread_slot.h"

#define REGION_PAUSE (15000000u >> HI_REGION_TOLD_SHIFT) /* some 5 ms: the injector learns no faster */

static struct hi_counters *counters_of(const struct record_event *event)
{
	return &((struct hi_control *)event->state->control)->counters;
}

void record_count(const struct hi_state *state, uint64_t *counter)
{
	if (__atomic_load_n(&state->armed, __ATOMIC_RELAXED))
		__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static void fill(struct hi_record_header *header, const struct record_event *event, enum hi_record_type type)
{
	header->type_busy = type;
	header->cycles = event->cycles;
	header->thread = event->thread;
}

/* Counts a record that did not get in. */
static inline bool put(const struct record_event *event, const struct hi_record_header *header, uint32_t bytes, uint64_t *dropped)
{
	enum ring_class class = header->type_busy == HI_RECORD_FREE || header->type_busy == HI_RECORD_UNFREE ? RING_VITAL : RING_ORDINARY;
	enum ring_outcome outcome = ring_put(event->state, thread_slot_number(event->state, event->slot), header, bytes, class);

	if (outcome == RING_LOST)
		record_count(event->state, &counters_of(event)->commit_lost);
	if (dropped && (outcome == RING_LOST || outcome == RING_FULL))
		record_count(event->state, dropped);
	return outcome == RING_COMMITTED;
}

__attribute__((noinline)) static void record_region(const struct record_event *event, uint64_t stack_pointer)
{
	struct hi_record_region record;
	uint32_t now = (uint32_t)(event->cycles >> HI_REGION_TOLD_SHIFT);

	if (now - event->slot->region_told <= REGION_PAUSE)
		return;
	event->slot->region_told = now;
	fill(&record.header, event, HI_RECORD_REGION);
	record.stack_pointer = stack_pointer;
	put(event, &record.header, sizeof(record), NULL);
}

/* Two fields that make up a word: ring_put reads it whole. */
static inline uint64_t word_of(uint64_t low, uint64_t high, unsigned high_at)
{
	return low | high << high_at;
}

__attribute__((noinline)) static bool put_known(const struct record_event *event, const struct hook_call *call, struct record_block block, uint32_t stack)
{
	union {
		struct hi_record_known known;
		uint64_t word[sizeof(struct hi_record_known) / 8];
	} record;

	fill(&record.known.header, event, HI_RECORD_KNOWN);
	record.known.address = block.address;
	record.known.bytes = block.bytes;
	record.word[offsetof(struct hi_record_known, stack) / 8] = word_of(stack, call->words->function, 48);
	record.word[offsetof(struct hi_record_known, slack) / 8] = word_of(event->slack, event->doublings, 32);
	return put(event, &record.known.header, sizeof(record.known), &counters_of(event)->dropped_allocs);
}
_Static_assert(offsetof(struct hi_record_known, function) == offsetof(struct hi_record_known, stack) + 6 &&
		       offsetof(struct hi_record_known, doublings) == offsetof(struct hi_record_known, slack) + 4,
	       "fields of one word");

/* The frames lie behind it already. */
__attribute__((noinline)) static bool put_with_frames(const struct record_event *event, const struct hook_call *call, struct record_block block,
						      struct stack_end stack)
{
	struct hi_record_alloc *alloc = (struct hi_record_alloc *)thread_slot_scratch(event->state, event->slot, event->is_alone)->alloc;

	fill(&alloc->header, event, HI_RECORD_ALLOC);
	alloc->address = block.address;
	alloc->bytes = block.bytes;
	alloc->function = (uint16_t)call->words->function;
	alloc->slack = event->slack;
	alloc->doublings = event->doublings;
	alloc->stack_end = stack.reason;
	alloc->frame_count = stack.count;
	record_count(event->state, &counters_of(event)->stacks_untold);
	return put(event, &alloc->header, (uint32_t)sizeof(*alloc) + 8 * stack.count, &counters_of(event)->dropped_allocs);
}

/* The second time that a stack is seen its walk is learned: one that is seen once costs nothing more. */
__attribute__((noinline)) static uint32_t id_of_walked(const struct record_event *event, const struct hi_scratch *scratch, struct stack_end stack)
{
	bool is_new;
	uint32_t id = stack_table_id(event->state, scratch->frame, stack, &is_new);

	if (!is_new && stack.is_plain)
		known_walk_learn(event->state, scratch->frame, stack.count, id);
	return id;
}

/* In a forked child the scratch reads zero from one instruction to the next: what steers us is kept apart. */
bool record_alloc(const struct record_event *event, const struct hook_call *call, struct stack_end stack, struct record_block block)
{
	const struct hi_scratch *scratch = thread_slot_scratch(event->state, event->slot, event->is_alone);
	uint32_t id = stack.id ? stack.id : id_of_walked(event, scratch, stack);

	if (stack.reason == HI_END_REGION)
		record_region(event, scratch->unknown_sp);
	if (!(id ? put_known(event, call, block, id) : put_with_frames(event, call, block, stack)))
		return false;
	if (stack.reason != HI_END_COMPLETE)
		record_count(event->state, &counters_of(event)->stacks_truncated);
	return true;
}

static bool put_free(const struct record_event *event, enum hi_record_type type, uint64_t address, uint64_t *dropped)
{
	struct hi_record_free record;

	fill(&record.header, event, type);
	record.address = address;
	return put(event, &record.header, sizeof(record), dropped);
}

bool record_free(const struct record_event *event, uint64_t address)
{
	return put_free(event, HI_RECORD_FREE, address, &counters_of(event)->dropped_frees);
}

bool record_unfree(const struct record_event *event, uint64_t address)
{
	return put_free(event, HI_RECORD_UNFREE, address, NULL);
}
