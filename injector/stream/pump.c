/* SPDX-License-Identifier: MIT */
/* pump.c - the clock of a session, and records out of the rings. See pump.h. */
#include "pump.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * many times the capacity of the rings: a hostile target that still has the rings may keep filling
 * them
 */
#define DRAIN_ROUNDS_MAX 64
#define SET_CLOCK_NS_MIN 100000000u
#define RATE_ERROR_MAX 1e-3
/* how long to wait for a record whose producer may only be descheduled */
#define PATIENCE_NS 1000000000ull

int pump_open(struct pump *pump, struct stream_out *out, const struct memory *memory,
	      const struct elf_images *images, pid_t pid)
{
	*pump = (struct pump){.out = out, .memory = memory};
	pump->code = (struct code_out){.memory = memory, .out = out};
	pump->cycles_per_second = arch_cycles_per_second();
	pump->ns_per_cycle =
		(uint64_t)(((unsigned __int128)1000000000u << 32) / pump->cycles_per_second);
	pump->opened = pump->set = arch_moment_now();
	return threads_open(&pump->threads, pid, images, memory);
}

void pump_close(struct pump *pump)
{
	for (size_t i = 0; i < pump->sent_count; i++)
		free(pump->sent[i].path);
	free(pump->sent);
	pump_close_stacks(pump);
	threads_close(&pump->threads);
	thinned_places_close(&pump->thinned_places);
	*pump = (struct pump){0};
}

void pump_connect(struct pump *pump, const struct rings *rings)
{
	ring_reader_open(&pump->reader, rings);
	pump->reader.asks_ahead = arch_has_write_prefetch();
}

/*
 * Counters of different CPUs may differ a little; an event with a time before the start counts as
 * an event at the start.
 */
static uint64_t to_ns(const struct pump *pump, uint64_t cycles)
{
	const int64_t since_set = (int64_t)(cycles - pump->set.cycles);
	const uint64_t set_ns = pump->set.ns - pump->opened.ns;
	if (since_set >= 0 && since_set <= UINT32_MAX && pump->ns_per_cycle <= UINT32_MAX)
		return set_ns + ((uint64_t)since_set * pump->ns_per_cycle >> 32);
	const __int128 ns =
		(__int128)set_ns + ((__int128)since_set * (__int128)pump->ns_per_cycle >> 32);
	return ns > 0 ? (uint64_t)ns : 0;
}

/*
 * Over the quarter of a second, or more, between two calls, the counter's rate can be measured far
 * better than by the calibration, and the remaining error does not accumulate. If the rate differs
 * from the calibrated one by more than the calibration's error can be, the counter or the clock was
 * not running all the time (suspend): then only the current moment is taken over, not the rate.
 */
void pump_set_clock(struct pump *pump)
{
	const struct arch_moment now = arch_moment_now();
	const uint64_t ns = now.ns - pump->set.ns;
	if (ns < SET_CLOCK_NS_MIN)
		return;
	const double rate = (double)(int64_t)(now.cycles - pump->set.cycles) * 1e9 / (double)ns;
	if (fabs(rate / (double)pump->cycles_per_second - 1) < RATE_ERROR_MAX)
		pump->ns_per_cycle = (uint64_t)(0x1p32 * 1e9 / rate);
	pump->set = now;
}

uint64_t pump_now_ns(const struct pump *pump)
{
	return pump->stopped_ns ? pump->stopped_ns : to_ns(pump, arch_cycles());
}

void pump_stop_clock(struct pump *pump)
{
	pump->stopped_ns = pump_now_ns(pump);
}

static int send_thread(struct pump *pump, const struct thread *thread, uint64_t time_ns)
{
	struct hi_stream_thread record = {
		.thread = thread->number, .tid = (uint32_t)thread->tid, .time_ns = time_ns};
	const struct stream_part name = {thread->name, strnlen(thread->name, sizeof(thread->name))};
	record.name_size = (uint32_t)name.size;
	return stream_out_record(pump->out, HI_STREAM_THREAD, &record, sizeof(record), &name, 1);
}

int pump_threads(struct pump *pump)
{
	const struct thread *renamed;
	int err = 0;
	/* Bounded: a target may rename its threads as fast as it can. */
	for (int i = 0; !err && i < THREADS_RENAMED_AT_ONCE &&
			(renamed = threads_renamed(&pump->threads, pump->memory));
	     i++) {
		err = send_thread(pump, renamed, pump_now_ns(pump));
		pump->last_pointer = 0; /* the thread with this pointer may have a new number */
	}
	return err;
}

/* Finds the thread's number. Writes a THREAD record first if the thread is new. */
static int new_thread_number(struct pump *pump, const struct hi_record_header *header,
			     uint32_t *out_number)
{
	const struct thread *thread;
	bool is_new;
	int err = threads_get(&pump->threads, pump->memory, header->thread, &thread, &is_new);
	if (err)
		return err;
	*out_number = pump->last_thread = thread->number;
	pump->last_pointer = header->thread;
	return is_new ? send_thread(pump, thread, to_ns(pump, header->cycles)) : 0;
}

/* The number of the thread that caused an event. */
static inline int thread_number(struct pump *pump, const struct hi_record_header *header,
				uint32_t *out_number)
{
	*out_number = pump->last_thread;
	return header->thread == pump->last_pointer && pump->last_pointer
		       ? 0
		       : new_thread_number(pump, header, out_number);
}

static uint64_t interval_of(const struct pump *pump, uint32_t interval_shift)
{
	return pump->interval << (interval_shift <= HI_INTERVAL_SHIFT_MAX ? interval_shift : 0);
}

/* Of the sampled block that this function gave: ALLOC, or one of those that are alone. */
static enum hi_stream_type type_of(uint16_t function)
{
	if (function == HI_FN_MMAP || function == HI_FN_MREMAP || function == HI_FN_BRK)
		return HI_STREAM_MAPPED;
	return function >= HI_FN_NAMED_ALLOC_0 ? HI_STREAM_POOLED : HI_STREAM_ALLOC;
}

static int send_alloc(struct pump *pump, const struct hi_record_alloc *from, bool is_sure)
{
	struct hi_stream_alloc alloc = {
		.record.flags = stack_end_classify(&pump->stack_ends, pump->memory, from->stack_end,
						   from->frame, from->frame_count),
		.time_ns = to_ns(pump, from->header.cycles),
		.address = from->address,
		.bytes = from->bytes,
		.function = from->function,
		.frame_count = (uint16_t)from->frame_count,
		.interval = interval_of(pump, from->interval_shift),
		.slack = from->slack,
	};
	alloc.record.flags |= is_sure ? 0 : HI_STREAM_UNSURE;
	int err = thread_number(pump, &from->header, &alloc.thread);
	if (err)
		return err;
	err = events_out_close(&pump->events, pump->out);
	if (err)
		return err;
	uint64_t frame[HI_FRAMES_MAX];
	const struct stream_part frames = {frame, from->frame_count * sizeof(uint64_t)};
	memcpy(frame, from->frame, frames.size);
	err = pump_name_frames(pump, (struct code_out_frames){frame, from->frame_count,
							      from->header.cycles, alloc.time_ns});
	return err ? err
		   : stream_out_record(pump->out, type_of(from->function), &alloc, sizeof(alloc),
				       &frames, 1);
}

/* The number in the stream of a stack that was recorded then. */
static inline int stack_number(struct pump *pump, uint32_t id, uint64_t cycles,
			       uint32_t *out_number)
{
	const bool is_inside = id < pump->stacks_size / HI_STACK_UNIT;
	*out_number = is_inside ? pump->stack_number[id] : 0;
	if (!is_inside || (*out_number && !pump->stack_names))
		return 0;
	return pump_stack_number(pump, id, cycles, out_number);
}

/* What a stack's addresses mean is not known: the record carries them itself. */
static int send_unsure(struct pump *pump, const struct hi_record_known *from)
{
	union {
		struct hi_record_alloc alloc;
		uint64_t word[sizeof(struct hi_record_alloc) / sizeof(uint64_t) + HI_FRAMES_MAX];
	} record = {.alloc = {.header = from->header,
			      .address = from->address,
			      .bytes = from->bytes,
			      .stack_end = HI_END_BAD_FRAME,
			      .function = from->function,
			      .slack = from->slack,
			      .interval_shift = from->interval_shift}};
	struct hi_stream_stack stack;
	if (from->stack < pump->stacks_size / HI_STACK_UNIT &&
	    pump_copy_stack(pump, from->stack, &stack, record.alloc.frame)) {
		record.alloc.frame_count = (uint16_t)stack.frame_count;
		record.alloc.stack_end = stack.record.flags;
	}
	return send_alloc(pump, &record.alloc, false);
}

static int send_known(struct pump *pump, const struct hi_record_known *from)
{
	struct hi_stream_alloc alloc = {
		.time_ns = to_ns(pump, from->header.cycles),
		.address = from->address,
		.bytes = from->bytes,
		.function = from->function,
		.interval = interval_of(pump, from->interval_shift),
		.slack = from->slack,
	};
	int err = thread_number(pump, &from->header, &alloc.thread);
	if (!err)
		err = stack_number(pump, from->stack, from->header.cycles, &alloc.stack);
	if (!alloc.stack)
		alloc.record.flags = HI_END_BAD_FRAME; /* nothing is known about the stack */
	thinned_places_add(&pump->thinned_places, alloc.stack, from->bytes, from->thinning_key);
	if (!err && type_of(from->function) != HI_STREAM_ALLOC)
		return events_out_alone(&pump->events, pump->out, type_of(from->function), &alloc,
					sizeof(alloc));
	return err ? err : events_out_alloc(&pump->events, pump->out, &alloc);
}

static int send_free(struct pump *pump, const struct hi_record_free *from)
{
	struct hi_stream_free record = {.time_ns = to_ns(pump, from->header.cycles),
					.address = from->address};
	int err = thread_number(pump, &from->header, &record.thread);
	return err ? err : events_out_free(&pump->events, pump->out, &record);
}

static int send_unfree(struct pump *pump, const struct hi_record_free *from)
{
	struct hi_stream_free record = {.time_ns = to_ns(pump, from->header.cycles),
					.address = from->address};
	int err = thread_number(pump, &from->header, &record.thread);
	return err ? err
		   : events_out_alone(&pump->events, pump->out, HI_STREAM_UNFREE, &record,
				      sizeof(record));
}

static int send_mapping(struct pump *pump, const struct hi_record_mapping *from)
{
	struct hi_stream_mapping record = {.record.flags = (uint16_t)from->change,
					   .time_ns = to_ns(pump, from->header.cycles),
					   .address = from->address,
					   .bytes = from->bytes,
					   .attributes = from->attributes};
	int err = thread_number(pump, &from->header, &record.thread);
	return err ? err
		   : events_out_alone(&pump->events, pump->out, HI_STREAM_MAPPING, &record,
				      sizeof(record));
}

static int send_pool(struct pump *pump, const struct hi_record_named *from)
{
	struct hi_stream_pool record = {.record.flags = (uint16_t)from->change,
					.time_ns = to_ns(pump, from->header.cycles),
					.address = from->address,
					.pool = from->pool,
					.function = from->function};
	int err = thread_number(pump, &from->header, &record.thread);
	return err ? err
		   : events_out_alone(&pump->events, pump->out, HI_STREAM_POOL, &record,
				      sizeof(record));
}

/* pump_reach, and what was collected before it changes what the stream has */
static inline int reach(struct pump *pump, uint16_t loads, bool *out_is_sure)
{
	*out_is_sure = true;
	if (!pump->loads || (loads == (uint16_t)pump->loads && !pump->are_blurred))
		return 0;
	const int err = events_out_close(&pump->events, pump->out);
	return err ? err : pump_reach(pump, loads, out_is_sure);
}

static int send(struct pump *pump, const union ring_record *record)
{
	const bool is_known = record->header.type_busy == HI_RECORD_KNOWN;
	bool is_sure;
	int err;
	switch (record->header.type_busy) {
	case HI_RECORD_ALLOC:
	case HI_RECORD_KNOWN:
		err = reach(pump, is_known ? record->known.loads : record->alloc.loads, &is_sure);
		if (err)
			return err;
		if (!is_known)
			return send_alloc(pump, &record->alloc, is_sure);
		return is_sure ? send_known(pump, &record->known)
			       : send_unsure(pump, &record->known);
	case HI_RECORD_FREE:
		return send_free(pump, &record->free);
	case HI_RECORD_UNFREE:
		return send_unfree(pump, &record->free);
	case HI_RECORD_MAPPING:
		return send_mapping(pump, &record->mapping);
	case HI_RECORD_NAMED:
		return send_pool(pump, &record->named);
	case HI_RECORD_REGION:
		pump->unknown_sp = record->region.stack_pointer;
		return 0;
	default:
		return 0; /* ring_reader lets nothing else through */
	}
}

void pump_mark(struct pump *pump)
{
	ring_reader_mark(&pump->reader);
}

int pump_round(struct pump *pump, bool last)
{
	struct ring_batch batch = {.enough = RING_BATCH_BYTES};
	int more = 1, err = 0;
	if (last)
		ring_reader_mark(&pump->reader);
	code_out_look(&pump->code);
	while (pump->reader.count && more > 0 && !err && !stream_out_is_full(pump->out)) {
		more = ring_reader_read(&pump->reader, pump_now_ns(pump), last ? 0 : PATIENCE_NS,
					&batch);
		for (const union ring_record *record; !err && (record = ring_batch_next(&batch));)
			err = send(pump, record);
	}
	pump->is_behind = pump->reader.count && more > 0;
	if (pump->is_behind)
		ring_reader_release(&pump->reader);
	int closed = events_out_close(&pump->events, pump->out);
	if (!closed && !pump->is_behind)
		closed = pump_settle_modules(pump);
	const int flushed = stream_out_flush(pump->out);
	if (more < 0)
		return more;
	return err ? err : closed ? closed : flushed;
}

int pump_drain(struct pump *pump, int deadline_ms)
{
	int err = pump_round(pump, true);
	for (unsigned round = 0; !err && pump->is_behind && round < DRAIN_ROUNDS_MAX; round++) {
		err = stream_out_drain(pump->out, deadline_ms);
		if (!err)
			err = pump_round(pump, true);
	}
	return err;
}
