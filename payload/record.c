/* SPDX-License-Identifier: MIT */
/* record.c - builds records and puts them into the ring. */
#include "record.h"

#include "clock.h"
#include "ring.h"

#define REGION_PAUSE_CYCLES 150000000ull /* some 50 ms: the injector needs about as long to learn a region */

static struct hi_counters *counters_of(const struct record_event *event)
{
	return &((struct hi_control *)event->state->control)->counters;
}

void record_count(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static void fill(struct hi_record_header *header, const struct record_event *event, enum hi_record_type type)
{
	header->type_busy = type;
	header->cycles = event->cycles;
	header->thread = event->thread;
}

static bool put(const struct record_event *event, struct hi_record_header *header, uint32_t bytes, enum ring_class class)
{
	enum ring_outcome outcome = ring_put((struct hi_ring *)event->state->ring, header, bytes, class);

	if (outcome == RING_LOST)
		record_count(&counters_of(event)->commit_lost);
	return outcome == RING_COMMITTED;
}

static void record_region(const struct record_event *event, uint64_t stack_pointer)
{
	struct hi_record_region record = {.stack_pointer = stack_pointer};

	if (!clock_is_past(event->cycles, event->slot->region_told, REGION_PAUSE_CYCLES))
		return;
	event->slot->region_told = event->cycles;
	fill(&record.header, event, HI_RECORD_REGION);
	put(event, &record.header, sizeof(record), RING_ORDINARY);
}

__attribute__((noinline)) bool record_alloc(const struct record_event *event, const struct record_block *block, struct stack_registers caller)
{
	struct hi_counters *counters = counters_of(event);
	union {
		struct hi_record_alloc alloc;
		uint8_t longest[sizeof(struct hi_record_alloc) + 8 * HI_FRAMES_MAX];
	} record; /* not initialised: a kilobyte, of which mostly little is used */
	struct hi_record_alloc *alloc = &record.alloc;
	uint64_t unknown = 0;

	fill(&alloc->header, event, HI_RECORD_ALLOC);
	alloc->address = block->address;
	alloc->bytes = block->bytes;
	alloc->function = (uint16_t)block->function;
	alloc->stack_end = (uint16_t)stack_capture(event->state, event->thread, caller, alloc->frame, &alloc->frame_count, &unknown);
	if (alloc->stack_end == HI_END_REGION)
		record_region(event, unknown);
	if (!put(event, &alloc->header, (uint32_t)sizeof(*alloc) + 8 * alloc->frame_count, RING_ORDINARY)) {
		record_count(&counters->dropped_allocs);
		return false;
	}
	record_count(&counters->samples);
	record_count(alloc->stack_end == HI_END_COMPLETE ? &counters->stacks_complete : &counters->stacks_truncated);
	return true;
}

bool record_free(const struct record_event *event, uint64_t address)
{
	struct hi_record_free record = {.address = address};
	bool is_in;

	fill(&record.header, event, HI_RECORD_FREE);
	is_in = put(event, &record.header, sizeof(record), RING_VITAL);
	record_count(is_in ? &counters_of(event)->frees : &counters_of(event)->dropped_frees);
	return is_in;
}

bool record_unfree(const struct record_event *event, uint64_t address)
{
	struct hi_record_free record = {.address = address};

	fill(&record.header, event, HI_RECORD_UNFREE);
	return put(event, &record.header, sizeof(record), RING_VITAL);
}
