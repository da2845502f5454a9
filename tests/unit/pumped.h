/* SPDX-License-Identifier: MIT */
/*
 * pumped.h - a pump between a ring that is filled by hand and a stream that is read back record by
 * record, for tests of the pump. The images are this process's own, or invented; the stream goes to
 * a file.
 */
#ifndef HI_TEST_PUMPED_H
#define HI_TEST_PUMPED_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "own_images.h"
#include "pump.h"

#define CAPACITY 65536u
#define STACKS_BYTES 65536u
#define BUSY (uint32_t)(HI_RING_BUSY >> 32)

static struct own own;
static struct pump pump;
static struct stream_out out;
static struct hi_ring *ring;
static struct hi_stacks *stacks;
static int file;
static off_t read_to; /* how far the stream has been read back */

static inline void prepare(void)
{
	own = own_open();
	file = memfd_create("stream", MFD_CLOEXEC);
	ring = calloc(1, sizeof(*ring) + CAPACITY);
	CHECK_EQ(stream_out_open(&out, file), 0);
	CHECK_EQ(pump_open(&pump, &out, &own.memory, &own.images, getpid()), 0);
	pump_connect(&pump, &(struct rings){ring, CAPACITY, 1});
	stacks = calloc(1, STACKS_BYTES);
	CHECK_EQ(pump_connect_stacks(&pump, stacks, STACKS_BYTES), 0);
}

static inline void finish(void)
{
	pump_close(&pump);
	stream_out_close(&out);
	free(ring);
	free(stacks);
	own_close(&own);
}

/* ---- the producer's side --------------------------------------------------------------------- */

static inline void put(const void *record, size_t size)
{
	for (size_t done = 0; done < size; done += 8)
		memcpy(ring->data + (ring->head + done) % CAPACITY, (const uint8_t *)record + done,
		       8);
	ring->head += size;
}

static inline void put_header(struct hi_record_header *header, uint32_t size, uint32_t type)
{
	*header = (struct hi_record_header){
		.size = size, .type_busy = type, .cycles = pump.opened.cycles, .thread = 0x7000};
}

static inline void put_free(uint32_t type, uint64_t address, uint64_t thread)
{
	struct hi_record_free record = {.address = address};
	put_header(&record.header, sizeof(record), type);
	record.header.thread = thread;
	put(&record, sizeof(record));
}

static inline void put_alloc(uint64_t address, uint64_t bytes, uint32_t frames)
{
	union ring_record record = {.word = {0}};
	const uint32_t size = (uint32_t)(offsetof(struct hi_record_alloc, frame) + 8 * frames +
					 HI_RING_UNIT - 1) /
			      HI_RING_UNIT * HI_RING_UNIT;
	put_header(&record.header, size, HI_RECORD_ALLOC);
	record.alloc.address = address;
	record.alloc.bytes = bytes;
	record.alloc.frame_count = frames;
	record.alloc.stack_end = HI_END_DEPTH;
	record.alloc.function = HI_FN_CALLOC;
	for (uint32_t i = 0; i < frames; i++)
		record.word[offsetof(struct hi_record_alloc, frame) / 8 + i] = address + i;
	put(&record, size);
}

static inline void put_known(uint64_t address, uint32_t stack)
{
	uint64_t record[2 * HI_RING_UNIT / 8] = {0};
	struct hi_record_known known = {
		.address = address, .bytes = 48, .stack = stack, .function = HI_FN_MALLOC};
	put_header(&known.header, sizeof(record), HI_RECORD_KNOWN);
	memcpy(record, &known, sizeof(known));
	put(record, sizeof(record));
}

/* A stack of so many frames at this place of the stacks part; its id. */
static inline uint32_t put_stack(uint64_t offset, uint32_t frames)
{
	struct hi_stack *stack = (struct hi_stack *)(void *)((uint8_t *)stacks + offset);
	stack->frame_count = frames;
	stack->stack_end = HI_END_DEPTH;
	for (uint32_t i = 0; i < frames && i < HI_FRAMES_MAX; i++)
		stack->frame[i] = offset + i;
	return (uint32_t)(offset / 8);
}

static inline void round_once(void)
{
	pump_mark(&pump);
	CHECK_EQ(pump_round(&pump, false), 0);
}

/* ---- the reader's side ----------------------------------------------------------------------- */

union stream_any {
	struct hi_stream_record record;
	struct hi_stream_header header;
	struct hi_stream_module module;
	struct hi_stream_module_gone gone;
	struct hi_stream_maps maps;
	struct hi_stream_thread thread;
	struct hi_stream_alloc alloc;
	struct hi_stream_stack stack;
	struct hi_stream_free free;
	struct hi_stream_stats stats;
	struct hi_stream_end end;
	struct hi_stream_process process;
	struct hi_stream_thinned thinned;
	struct hi_stream_heap heap;
	uint8_t bytes[1 << 16];
	uint64_t word[1 << 13];
};

/* The next record of the stream, or NULL. */
static inline const union stream_any *next_record(void)
{
	static union stream_any any;
	if (pread(file, &any, sizeof(any.record), read_to) != sizeof(any.record))
		return NULL;
	CHECK(any.record.size >= 8 && any.record.size % 8 == 0 && any.record.size <= sizeof(any));
	CHECK_EQ(pread(file, &any, any.record.size, read_to), any.record.size);
	read_to += any.record.size;
	return &any;
}

/* An event as the record that it stands for. */
static inline const union stream_any *record_of(const struct hi_stream_events *events,
						const struct hi_stream_event *event)
{
	static union stream_any any;
	const uint64_t address = event->what & ((1ull << HI_STREAM_EVENT_ADDRESS_BITS) - 1),
		       kind = event->what >> HI_STREAM_EVENT_ADDRESS_BITS;
	const uint64_t time_ns = events->time_ns + event->after_ns;
	CHECK(time_ns <= events->last_ns);
	if (!kind) {
		any.free = (struct hi_stream_free){
			.record = {.size = sizeof(any.free), .type = HI_STREAM_FREE},
			.time_ns = time_ns,
			.address = address};
		any.free.thread = event->thread;
		return &any;
	}
	CHECK_EQ(event->lived_ns, HI_STREAM_LIVES);
	any.alloc = (struct hi_stream_alloc){
		.record = {.size = sizeof(any.alloc), .type = HI_STREAM_ALLOC},
		.time_ns = time_ns,
		.address = address};
	any.alloc.bytes = event->bytes;
	any.alloc.thread = event->thread;
	any.alloc.function = (uint16_t)(kind - 1);
	any.alloc.interval = events->interval;
	any.alloc.slack = event->slack;
	any.alloc.stack = event->stack;
	return &any;
}

/* The same, one event of an EVENTS record at a time. */
static inline const union stream_any *next(void)
{
	static union stream_any events;
	static uint32_t at;
	if (at >= events.record.size) {
		const union stream_any *any = next_record();
		if (!any || any->record.type != HI_STREAM_EVENTS)
			return any;
		events = *any;
		at = sizeof(struct hi_stream_events);
	}
	const struct hi_stream_event *event =
		(const struct hi_stream_event *)(const void *)(events.bytes + at);
	at += event->what >> HI_STREAM_EVENT_ADDRESS_BITS ? sizeof(*event)
							  : HI_STREAM_EVENT_FREE_BYTES;
	CHECK(at <= events.record.size);
	return record_of((const struct hi_stream_events *)(const void *)&events, event);
}

static inline const union stream_any *expect(uint16_t type)
{
	const union stream_any *any = next();
	if (!any)
		UNIT_FAIL("the stream has ended; a record of type %u was expected", type);
	CHECK_EQ(any->record.type, type);
	return any;
}

static inline void expect_nothing(void)
{
	const union stream_any *any = next();
	if (any)
		UNIT_FAIL("a record of type %u was not expected", any->record.type);
}

#endif
