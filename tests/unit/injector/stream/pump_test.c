/* SPDX-License-Identifier: MIT */
/*
 * pump: from a ring filled by hand to the bytes of the stream. The images are this process's own,
 * or invented; the stream goes to a file and is read back record by record.
 */
#include "pump.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "clock.h"
#include "own_images.h"

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

static void prepare(void)
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

static void finish(void)
{
	pump_close(&pump);
	stream_out_close(&out);
	free(ring);
	free(stacks);
	own_close(&own);
}

/* ---- the producer's side --------------------------------------------------------------------- */

static void put(const void *record, size_t size)
{
	for (size_t done = 0; done < size; done += 8)
		memcpy(ring->data + (ring->head + done) % CAPACITY, (const uint8_t *)record + done,
		       8);
	ring->head += size;
}

static void put_header(struct hi_record_header *header, uint32_t size, uint32_t type)
{
	*header = (struct hi_record_header){
		.size = size, .type_busy = type, .cycles = pump.opened.cycles, .thread = 0x7000};
}

static void put_free(uint32_t type, uint64_t address, uint64_t thread)
{
	struct hi_record_free record = {.address = address};
	put_header(&record.header, sizeof(record), type);
	record.header.thread = thread;
	put(&record, sizeof(record));
}

static void put_alloc(uint64_t address, uint64_t bytes, uint32_t frames)
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

static void put_known(uint64_t address, uint32_t stack)
{
	uint64_t record[2 * HI_RING_UNIT / 8] = {0};
	struct hi_record_known known = {
		.address = address, .bytes = 48, .stack = stack, .function = HI_FN_MALLOC};
	put_header(&known.header, sizeof(record), HI_RECORD_KNOWN);
	memcpy(record, &known, sizeof(known));
	put(record, sizeof(record));
}

/* A stack of so many frames at this place of the stacks part; its id. */
static uint32_t put_stack(uint64_t offset, uint32_t frames)
{
	struct hi_stack *stack = (struct hi_stack *)(void *)((uint8_t *)stacks + offset);
	stack->frame_count = frames;
	stack->stack_end = HI_END_DEPTH;
	for (uint32_t i = 0; i < frames && i < HI_FRAMES_MAX; i++)
		stack->frame[i] = offset + i;
	return (uint32_t)(offset / 8);
}

static void round_once(void)
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
	uint8_t bytes[1 << 16];
	uint64_t word[1 << 13];
};

/* The next record of the stream, or NULL. */
static const union stream_any *next_record(void)
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
static const union stream_any *record_of(const struct hi_stream_events *events,
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
static const union stream_any *next(void)
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

static const union stream_any *expect(uint16_t type)
{
	const union stream_any *any = next();
	if (!any)
		UNIT_FAIL("the stream has ended; a record of type %u was expected", type);
	CHECK_EQ(any->record.type, type);
	return any;
}

static void expect_nothing(void)
{
	const union stream_any *any = next();
	if (any)
		UNIT_FAIL("a record of type %u was not expected", any->record.type);
}

/* ---- events ---------------------------------------------------------------------------------- */

UNIT_TEST(a_thread_is_announced_before_its_first_event)
{
	prepare();
	put_alloc(0x5000, 77, 5);
	put_free(HI_RECORD_FREE, 0x5000, 0x7000);
	put_free(HI_RECORD_FREE, 0x6000, (uint64_t)pthread_self());
	put_free(HI_RECORD_FREE, 0x5001, 0x7000);
	round_once();

	const union stream_any *got = expect(HI_STREAM_THREAD);
	CHECK_EQ(got->thread.thread, 1);
	CHECK_EQ(got->thread.tid, 0);
	CHECK_EQ(got->thread.name_size, 0);
	got = expect(HI_STREAM_ALLOC);
	CHECK_EQ(got->alloc.record.flags, HI_END_DEPTH);
	CHECK_EQ(got->alloc.address, 0x5000);
	CHECK_EQ(got->alloc.bytes, 77);
	CHECK_EQ(got->alloc.thread, 1);
	CHECK_EQ(got->alloc.function, HI_FN_CALLOC);
	CHECK_EQ(got->alloc.frame_count, 5);
	CHECK_EQ(got->record.size, sizeof(got->alloc) + 5 * 8);
	for (unsigned i = 0; i < 5; i++)
		CHECK_EQ(got->word[sizeof(got->alloc) / 8 + i], 0x5000 + i);
	got = expect(HI_STREAM_THREAD);
	CHECK_EQ(got->thread.thread, 2);
	CHECK_EQ(got->thread.tid, getpid());
	CHECK(got->thread.name_size > 0);
	CHECK_EQ(memcmp(got->bytes + sizeof(got->thread), "pump_test", got->thread.name_size), 0);
	got = expect(HI_STREAM_FREE);
	CHECK_EQ(got->free.address, 0x5000);
	CHECK_EQ(got->free.thread, 1);
	CHECK_EQ(expect(HI_STREAM_FREE)->free.thread, 2);
	CHECK_EQ(expect(HI_STREAM_FREE)->free.thread, 1);
	expect_nothing();
	CHECK_EQ(ring->tail, ring->head);
	finish();
}

static void *wait_on(void *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return NULL;
}

/*
 * A thread on that stack while an event of it goes through the pump; the number that the event got.
 */
static uint32_t number_of_thread_on(void *stack, size_t size, bool is_followed)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_attr_t attributes;
	pthread_t thread;
	struct hi_record_free record = {.address = 1};

	pthread_mutex_lock(&lock);
	CHECK_EQ(pthread_attr_init(&attributes), 0);
	CHECK_EQ(pthread_attr_setstack(&attributes, stack, size), 0);
	CHECK_EQ(pthread_create(&thread, &attributes, wait_on, &lock), 0);
	CHECK_EQ(pump_threads(&pump), 0);
	put_header(&record.header, sizeof(record), HI_RECORD_FREE);
	record.header.thread = (uint64_t)thread;
	put(&record, sizeof(record));
	round_once();
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	const struct hi_stream_thread *told = &expect(HI_STREAM_THREAD)->thread;
	const uint32_t number = told->thread;
	CHECK(told->tid != 0);
	CHECK_EQ(number, is_followed ? 2 : 1);
	return expect(HI_STREAM_FREE)->free.thread;
}

UNIT_TEST(a_thread_in_the_place_of_another_has_events_of_its_own)
{
	const size_t size = 1 << 18;
	void *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	prepare();
	CHECK_EQ(number_of_thread_on(stack, size, false), 1);
	CHECK_EQ(number_of_thread_on(stack, size, true), 2);
	finish();
	munmap(stack, size);
}

UNIT_TEST(an_unfree_follows_its_free)
{
	prepare();
	put_free(HI_RECORD_FREE, 0x5000, 0x7000);
	put_free(HI_RECORD_UNFREE, 0x5000, 0x7000);
	round_once();
	expect(HI_STREAM_THREAD);
	CHECK_EQ(expect(HI_STREAM_FREE)->free.address, 0x5000);
	const union stream_any *got = expect(HI_STREAM_UNFREE);
	CHECK_EQ(got->free.address, 0x5000);
	CHECK_EQ(got->record.size, sizeof(struct hi_stream_free));
	expect_nothing();
	finish();
}

/* Short-lived blocks of known stacks are what there is most of. */
UNIT_TEST(a_block_that_is_freed_soon_is_one_event)
{
	prepare();
	const uint32_t stack = put_stack(128, 3);
	for (uint64_t i = 1; i <= 10; i++) {
		put_known(i << 12, stack);
		put_free(HI_RECORD_FREE, i << 12, 0x7000);
	}
	round_once();
	expect(HI_STREAM_THREAD);
	expect(HI_STREAM_STACK);
	const union stream_any *got = next_record();
	CHECK(got);
	CHECK_EQ(got->record.type, HI_STREAM_EVENTS);
	CHECK_EQ(got->record.size,
		 sizeof(struct hi_stream_events) + 10 * sizeof(struct hi_stream_event));
	expect_nothing();
	put_known(0x5000, stack);
	put_free(HI_RECORD_UNFREE, 0x5000, 0x7000); /* whatever that may mean, it comes between */
	put_free(HI_RECORD_FREE, 0x5000, 0x7000);
	round_once();
	expect(HI_STREAM_ALLOC);
	expect(HI_STREAM_UNFREE);
	expect(HI_STREAM_FREE);
	expect_nothing();
	finish();
}

UNIT_TEST(an_unknown_stack_is_kept_for_the_watch_and_not_for_the_stream)
{
	struct hi_record_region region = {.stack_pointer = 0x7ffe12345678};
	prepare();
	put_header(&region.header, sizeof(region), HI_RECORD_REGION);
	put(&region, sizeof(region));
	round_once();
	CHECK_EQ(pump.unknown_sp, 0x7ffe12345678);
	expect_nothing();
	finish();
}

UNIT_TEST(a_known_stack_is_told_before_its_first_use_and_only_then)
{
	prepare();
	const uint32_t first = put_stack(128, 3), second = put_stack(4096, HI_FRAMES_MAX);
	put_known(0x1000, first);
	put_known(0x2000, first);
	put_known(0x3000, second);
	round_once();
	put_known(0x4000, first);
	round_once();
	expect(HI_STREAM_THREAD);
	const struct hi_stream_stack *stack = &expect(HI_STREAM_STACK)->stack;
	CHECK_EQ(stack->stack, 1);
	CHECK_EQ(stack->frame_count, 3);
	CHECK_EQ(stack->record.flags, HI_END_DEPTH);
	for (uint64_t i = 0; i < 3; i++)
		CHECK_EQ(((const uint64_t *)(const void *)(stack + 1))[i], 128 + i);
	const union stream_any *second_stack = expect(HI_STREAM_STACK);
	CHECK_EQ(second_stack->stack.stack, 2);
	CHECK_EQ(second_stack->stack.frame_count, HI_FRAMES_MAX);
	for (uint64_t i = 1; i <= 2; i++) {
		const struct hi_stream_alloc *alloc = &expect(HI_STREAM_ALLOC)->alloc;
		CHECK_EQ(alloc->address, i << 12);
		CHECK_EQ(alloc->bytes, 48);
		CHECK_EQ(alloc->function, HI_FN_MALLOC);
		CHECK_EQ(alloc->stack, 1);
		CHECK_EQ(alloc->frame_count, 0);
	}
	CHECK_EQ(expect(HI_STREAM_ALLOC)->alloc.stack, 2);
	CHECK_EQ(expect(HI_STREAM_ALLOC)->alloc.stack, 1);
	expect_nothing();
	finish();
}

/* Its allocation counts all the same. */
UNIT_TEST(an_id_that_names_no_stack_is_an_unknown_stack)
{
	prepare();
	const uint32_t bad[] = {
		0,
		1,
		15,
		put_stack(128, 0),
		put_stack(256, HI_FRAMES_MAX + 1),
		put_stack(STACKS_BYTES - 64, 0) + 7,
		STACKS_BYTES / 8,
		UINT32_MAX,
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		put_known(0x1000, bad[i]);
	/* ends where the next one begins */
	put_known(0x1000, put_stack(STACKS_BYTES - 128, 7));
	/* no room for that frame */
	((struct hi_stack *)(void *)((uint8_t *)stacks + STACKS_BYTES - 8))->frame_count = 1;
	round_once();
	expect(HI_STREAM_THREAD);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const struct hi_stream_alloc *alloc = &expect(HI_STREAM_ALLOC)->alloc;
		CHECK_EQ(alloc->stack, 0);
		CHECK_EQ(alloc->frame_count, 0);
		CHECK_EQ(alloc->record.flags, HI_END_BAD_FRAME);
	}
	CHECK_EQ(expect(HI_STREAM_STACK)->stack.frame_count, 7);
	CHECK_EQ(expect(HI_STREAM_ALLOC)->alloc.stack, 1);
	finish();
}

UNIT_TEST(cycles_become_nanoseconds_since_the_start)
{
	prepare();
	pump.opened = pump.set = (struct arch_moment){.cycles = 1000, .ns = 5};
	pump.cycles_per_second = 2000000000;
	pump.ns_per_cycle = 1ull << 31;
	struct hi_record_free record = {.address = 1};
	const struct {
		uint64_t cycles, ns;
	} times[] = {
		/* 73 years */
		{1000, 0},
		{1001, 0},
		{1002, 1},
		{1000 + 6000000000, 3000000000},
		{999, 0},
		{0, 0},
		{1000 + (1ull << 62), (1ull << 62) / 2},
	};
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		put_header(&record.header, sizeof(record), HI_RECORD_FREE);
		record.header.cycles = times[i].cycles;
		put(&record, sizeof(record));
	}
	round_once();
	CHECK_EQ(expect(HI_STREAM_THREAD)->thread.time_ns, 0);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		CHECK_EQ(expect(HI_STREAM_FREE)->free.time_ns, times[i].ns);
	finish();
}

/*
 * How long a second of the clock is by the pump's, once it was compared. Both ends are as wide as
 * we were interrupted, and that is how sure the answer is.
 */
static double seconds_a_second(double *out_doubt)
{
	uint64_t ours[2], clock[2], width[2];

	for (int end = 0; end < 2; end++) {
		width[end] = UINT64_MAX;
		for (int attempt = 0; attempt < 50; attempt++) {
			const uint64_t before = clock_now_ns(), between = pump_now_ns(&pump),
				       after = clock_now_ns();
			if (after - before < width[end]) {
				width[end] = after - before;
				ours[end] = between;
				clock[end] = before + (after - before) / 2;
			}
		}
		if (end == 0)
			usleep(250000);
	}
	*out_doubt = (double)(width[0] + width[1]) / (double)(clock[1] - clock[0]);
	return (double)(ours[1] - ours[0]) / (double)(clock[1] - clock[0]);
}

UNIT_TEST(a_wrong_rate_does_not_last)
{
	const struct hi_stream_stats stats = {0};
	double doubt;

	prepare();
	pump.ns_per_cycle += pump.ns_per_cycle / 2000;
	CHECK(fabs(seconds_a_second(&doubt) - 1.0005) < doubt + 2e-5);
	CHECK_EQ(pump_stats(&pump, &stats), 0);
	CHECK(fabs(seconds_a_second(&doubt) - 1) < doubt + 2e-5);
	/* What the wrong rate made of the time up to then is made good, too. */
	const uint64_t before = clock_now_ns(), now = pump_now_ns(&pump), after = clock_now_ns();
	CHECK(now + pump.opened.ns >= before - 20000 && now + pump.opened.ns <= after + 20000);
	finish();
}

/* Suspend: the clock stood still, the counter did not, or began at nothing. */
UNIT_TEST(a_counter_that_ran_on_without_the_clock_changes_no_rate)
{
	const struct hi_stream_stats stats = {0};

	prepare();
	const uint64_t rate = pump.ns_per_cycle;
	for (int i = 0; i < 2; i++) {
		pump.set.ns -= 200000000;
		pump.opened.ns -= 200000000;
		pump.set.cycles += i ? 1ull << 50 : -(1ull << 50);
		CHECK_EQ(pump_stats(&pump, &stats), 0);
		CHECK_EQ(pump.ns_per_cycle, rate);
		const uint64_t before = clock_now_ns(), now = pump_now_ns(&pump),
			       after = clock_now_ns();
		CHECK(now + pump.opened.ns >= before - 20000 &&
		      now + pump.opened.ns <= after + 20000);
	}
	finish();
}

/* One clock for all: what is counted while we are attached lies between the start and now. */
UNIT_TEST(the_clock_is_the_cycle_counter)
{
	prepare();
	const uint64_t clock_before = clock_now_ns(), before = pump_now_ns(&pump);
	usleep(20000);
	const uint64_t after = pump_now_ns(&pump), clock_after = clock_now_ns();
	CHECK(after - before >= 19000000);
	CHECK(after - before < 100 * (clock_after - clock_before));
	finish();
}

/* ---- the mark -------------------------------------------------------------------------------- */

UNIT_TEST(what_was_reserved_after_the_mark_waits_for_the_next_round)
{
	prepare();
	put_free(HI_RECORD_FREE, 1, 0x7000);
	pump_mark(&pump);
	put_free(HI_RECORD_FREE, 2, 0x7000);
	CHECK_EQ(pump_round(&pump, false), 0);
	expect(HI_STREAM_THREAD);
	CHECK_EQ(expect(HI_STREAM_FREE)->free.address, 1);
	expect_nothing();
	round_once();
	CHECK_EQ(expect(HI_STREAM_FREE)->free.address, 2);
	put_free(HI_RECORD_FREE, 3, 0x7000);
	CHECK_EQ(pump_round(&pump, true), 0); /* the last round knows no mark */
	CHECK_EQ(expect(HI_STREAM_FREE)->free.address, 3);
	finish();
}

UNIT_TEST(an_unfinished_record_holds_up_all_but_the_last_round)
{
	prepare();
	struct hi_record_free unfinished = {.address = 1};
	put_header(&unfinished.header, sizeof(unfinished), HI_RECORD_FREE | BUSY);
	put(&unfinished, sizeof(unfinished));
	put_free(HI_RECORD_FREE, 2, 0x7000);
	round_once();
	expect_nothing();
	CHECK_EQ(pump_round(&pump, true), 0);
	expect(HI_STREAM_THREAD);
	CHECK_EQ(expect(HI_STREAM_FREE)->free.address, 2);
	expect_nothing();
	finish();
}

/* Takes everything out of the pipe, and keeps it where the stream is read back. */
static void *read_slowly(void *from)
{
	static uint8_t bytes[1 << 16];
	for (ssize_t got; (got = read(*(const int *)from, bytes, sizeof(bytes))) > 0;)
		CHECK_EQ(write(file, bytes, (size_t)got), got);
	return NULL;
}

UNIT_TEST(a_full_output_leaves_nothing_in_the_ring_at_the_end)
{
	static uint8_t filler[1 << 20];
	const struct stream_part part = {filler, sizeof(filler)};
	int ends[2];
	pthread_t reader;
	prepare();
	CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
	CHECK_EQ(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	out.fd = ends[1];
	while (!stream_out_is_full(&out)) {
		struct hi_stream_maps maps = {.text_size = sizeof(filler)};
		CHECK_EQ(stream_out_record(&out, HI_STREAM_MAPS, &maps, sizeof(maps), &part, 1), 0);
		read_to += maps.record.size;
	}
	put_free(HI_RECORD_FREE, 1, 0x7000);
	put_free(HI_RECORD_FREE, 2, 0x7000);
	CHECK_EQ(pthread_create(&reader, NULL, read_slowly, &ends[0]), 0);
	CHECK_EQ(pump_drain(&pump, UNIT_PATIENCE_MS), 0);
	CHECK_EQ(stream_out_drain(&out, UNIT_PATIENCE_MS), 0);
	close(ends[1]);
	CHECK_EQ(pthread_join(reader, NULL), 0);
	close(ends[0]);
	expect(HI_STREAM_THREAD);
	CHECK_EQ(expect(HI_STREAM_FREE)->free.address, 1);
	CHECK_EQ(expect(HI_STREAM_FREE)->free.address, 2);
	expect_nothing();
	finish();
}

UNIT_TEST(before_the_ring_is_connected_there_is_nothing_to_do)
{
	prepare();
	pump.reader = (struct ring_reader){0};
	pump_mark(&pump);
	CHECK_EQ(pump_round(&pump, false), 0);
	CHECK_EQ(pump_round(&pump, true), 0);
	expect_nothing();
	finish();
}

/* ---- trouble --------------------------------------------------------------------------------- */

UNIT_TEST(a_ring_that_was_scribbled_over_ends_the_stream_behind_what_was_good)
{
	prepare();
	put_free(HI_RECORD_FREE, 1, 0x7000);
	struct hi_record_free bad = {.header = {.size = 33, .type_busy = HI_RECORD_FREE}};
	put(&bad, sizeof(bad));
	pump_mark(&pump);
	CHECK_EQ(pump_round(&pump, false), -EPROTO);
	expect(HI_STREAM_THREAD);
	expect(HI_STREAM_FREE);
	expect_nothing();
	CHECK_EQ(pump_round(&pump, true), -EPROTO); /* and it ends */
	ring->head = UINT64_MAX - HI_RING_UNIT + 1;
	CHECK_EQ(pump_round(&pump, true), -EPROTO);
	finish();
}

UNIT_TEST(any_content_of_the_ring_is_survived)
{
	uint64_t random = 88172645463325252u;
	prepare();
	for (unsigned round = 0; round < 3000; round++) {
		union ring_record record;
		for (size_t i = 0; i < 16; i++)
			record.word[i] = random =
				random * 6364136223846793005u + 1442695040888963407u;
		/* A plausible head, or it would end at the size at once. */
		record.header.size = (uint32_t)(1 + random % 4) * HI_RING_UNIT;
		record.header.type_busy = (uint32_t)(random >> 32) % 6;
		record.alloc.frame_count = (uint32_t)(random >> 40) % 20;
		put(&record, record.header.size);
		round_once();
	}
	for (const union stream_any *any; (any = next());)
		CHECK(any->record.type == HI_STREAM_THREAD || any->record.type == HI_STREAM_ALLOC ||
		      any->record.type == HI_STREAM_FREE || any->record.type == HI_STREAM_UNFREE);
	CHECK_EQ(ring->tail, ring->head);
	finish();
}

UNIT_TEST(a_reader_that_went_away_is_an_error_code)
{
	int ends[2];
	prepare();
	CHECK_EQ(pipe2(ends, O_NONBLOCK), 0);
	signal(SIGPIPE, SIG_IGN);
	close(ends[0]);
	out.fd = ends[1];
	put_free(HI_RECORD_FREE, 1, 0x7000);
	pump_mark(&pump);
	CHECK_EQ(pump_round(&pump, false), -EPIPE);
	finish();
}

/* ---- what describes the target --------------------------------------------------------------- */

UNIT_TEST(the_header_carries_every_string)
{
	static const char cmdline[] = "server\0--port\0007";
	prepare();
	const struct pump_target target = {
		.pid = 1234,
		.interval = 65536,
		.comm = "server",
		.exe = "/opt/server",
		.host = "",
		.version = "1.2",
		.cmdline = cmdline,
		.cmdline_size = sizeof(cmdline),
	};
	CHECK_EQ(pump_header(&pump, &target), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	const union stream_any *got = expect(HI_STREAM_HEADER);
	CHECK_EQ(got->header.magic, HI_STREAM_MAGIC);
	CHECK_EQ(got->header.version, HI_STREAM_VERSION);
	CHECK_EQ(got->header.pid, 1234);
	CHECK_EQ(got->header.interval, 65536);
	CHECK(got->header.start_unix_ns > 1600000000ull * 1000000000u);
	CHECK_EQ(got->header.cmdline_size, sizeof(cmdline));
	const char *text = (const char *)got->bytes + sizeof(got->header);
	CHECK_EQ(memcmp(text, "server", 6), 0);
	CHECK_EQ(memcmp(text + 6, cmdline, sizeof(cmdline)), 0);
	CHECK_EQ(memcmp(text + 6 + sizeof(cmdline), "/opt/server1.2", 14), 0);
	finish();
}

UNIT_TEST(a_module_comes_before_the_events_in_it)
{
	prepare();
	const struct elf_image *libc = own_image(&own, "libc.so");
	CHECK_EQ(pump_modules(&pump, &own.images), 0);
	put_alloc(libc->text[0].lo + 16, 1, 1);
	round_once();
	unsigned modules = 0;
	bool has_libc = false;
	const union stream_any *got;
	while ((got = next()) && got->record.type == HI_STREAM_MODULE) {
		const char *text =
			(const char *)got->bytes + sizeof(got->module) + got->module.build_id_size;
		modules++;
		CHECK(got->module.module >= 1 && got->module.module <= own.images.count);
		if (got->module.lo != libc->text[0].lo)
			continue;
		has_libc = true;
		CHECK_EQ(got->module.hi, libc->text[0].hi);
		CHECK_EQ(got->module.file_offset, libc->text[0].file_offset);
		CHECK_EQ(got->module.bias, libc->bias);
		CHECK_EQ(got->module.inode, libc->inode);
		CHECK_EQ(got->module.build_id_size, libc->build_id_size);
		CHECK_EQ(memcmp(got->bytes + sizeof(got->module), libc->build_id,
				libc->build_id_size),
			 0);
		CHECK_EQ(got->module.path_size, strlen(libc->path));
		CHECK_EQ(memcmp(text, libc->path, got->module.path_size), 0);
		CHECK_EQ(memcmp(text + got->module.path_size, libc->open_path,
				got->module.open_path_size),
			 0);
	}
	CHECK(has_libc);
	CHECK(modules >= own.images.count);
	CHECK(got);
	CHECK_EQ(got->record.type, HI_STREAM_THREAD);
	expect(HI_STREAM_ALLOC);
	expect_nothing();
	CHECK_EQ(pump_modules(&pump, &own.images), 0); /* nothing new */
	CHECK_EQ(stream_out_flush(&out), 0);
	expect_nothing();
	finish();
}

/* Objects that were never mapped: an image with `texts` texts of a page each. */
static struct elf_image invent(const char *path, struct elf_text *text, remote_addr lo,
			       size_t texts)
{
	for (size_t i = 0; i < texts; i++)
		text[i] = (struct elf_text){.lo = lo + i * 0x10000,
					    .hi = lo + i * 0x10000 + 0x1000,
					    .file_offset = i * 0x1000};
	return (struct elf_image){
		.path = (char *)(uintptr_t)path,
		.open_path = (char *)(uintptr_t) "",
		.inode = strlen(path),
		.bias = lo,
		.text = text,
		.text_count = texts,
	};
}

UNIT_TEST(a_library_that_moved_is_gone_before_it_is_there_again)
{
	struct elf_text text[2][2];
	struct elf_image image[2] = {invent("/lib/a", text[0], 0x1000000, 1),
				     invent("/lib/bb", text[1], 0x2000000, 1)};
	const struct elf_images images = {.image = image, .count = 2};
	prepare();
	CHECK_EQ(pump_modules(&pump, &images), 0);
	image[0] = invent("/lib/a", text[0], 0x3000000, 1);
	CHECK_EQ(pump_modules(&pump, &images), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	CHECK_EQ(expect(HI_STREAM_MODULE)->module.module, 1);
	CHECK_EQ(expect(HI_STREAM_MODULE)->module.module, 2);
	CHECK_EQ(expect(HI_STREAM_MODULE_GONE)->gone.module, 1);
	const union stream_any *got = expect(HI_STREAM_MODULE);
	CHECK_EQ(got->module.module, 3);
	CHECK_EQ(got->module.lo, 0x3000000);
	expect_nothing();
	finish();
}

UNIT_TEST(all_texts_of_an_object_carry_one_number_and_go_with_it)
{
	struct elf_text text[2];
	struct elf_image image = invent("/lib/a", text, 0x1000000, 2);
	struct elf_images images = {.image = &image, .count = 1};
	prepare();
	CHECK_EQ(pump_modules(&pump, &images), 0);
	images.count = 0;
	CHECK_EQ(pump_modules(&pump, &images), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	CHECK_EQ(expect(HI_STREAM_MODULE)->module.module, 1);
	CHECK_EQ(expect(HI_STREAM_MODULE)->module.module, 1);
	CHECK_EQ(expect(HI_STREAM_MODULE_GONE)->gone.module, 1);
	expect_nothing();
	CHECK_EQ(pump.sent_count, 0);
	finish();
}

/*
 * MODULE_GONE takes the whole object from the reader: what of it is still mapped must be told anew.
 */
UNIT_TEST(the_texts_that_an_object_keeps_are_described_again)
{
	struct elf_text text[2];
	struct elf_image image = invent("/lib/a", text, 0x1000000, 2);
	const struct elf_images images = {.image = &image, .count = 1};
	prepare();
	CHECK_EQ(pump_modules(&pump, &images), 0);
	text[0].hi += 0x1000;
	CHECK_EQ(pump_modules(&pump, &images), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	expect(HI_STREAM_MODULE);
	expect(HI_STREAM_MODULE);
	CHECK_EQ(expect(HI_STREAM_MODULE_GONE)->gone.module, 1);
	const union stream_any *got = expect(HI_STREAM_MODULE);
	CHECK_EQ(got->module.lo, 0x1000000);
	CHECK_EQ(got->module.hi, 0x1002000);
	const uint32_t number = got->module.module;
	got = expect(HI_STREAM_MODULE);
	CHECK_EQ(got->module.lo, 0x1010000);
	CHECK_EQ(got->module.module, number);
	expect_nothing();
	finish();
}

UNIT_TEST(maps_stats_and_end_go_out_as_they_are)
{
	const struct hi_stream_stats stats = {.samples = 1,
					      .frees = 2,
					      .dropped_allocs = 3,
					      .payload_cpu_ns = 4,
					      .resident_bytes = 5};
	prepare();
	CHECK_EQ(pump_maps(&pump, &own.maps), 0);
	CHECK_EQ(pump_stats(&pump, &stats), 0);
	CHECK_EQ(pump_end(&pump, HI_STREAM_END_DETACH), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	const union stream_any *got = expect(HI_STREAM_MAPS);
	CHECK_EQ(got->maps.text_size, own.maps.text_size);
	CHECK_EQ(memcmp(got->bytes + sizeof(got->maps), own.maps.text, own.maps.text_size), 0);
	got = expect(HI_STREAM_STATS);
	CHECK_EQ(got->stats.samples, 1);
	CHECK_EQ(got->stats.resident_bytes, 5);
	const uint64_t stats_ns = got->stats.time_ns;
	CHECK(stats_ns > 0);
	got = expect(HI_STREAM_END);
	CHECK_EQ(got->record.flags, HI_STREAM_END_DETACH);
	CHECK(got->end.time_ns >= stats_ns);
	expect_nothing();
	finish();
}

UNIT_TEST(maps_that_no_record_can_hold_are_cut_between_two_lines)
{
	static char text[HI_STREAM_RECORD_MAX + 100];
	const struct maps maps = {.text = text, .text_size = sizeof(text)};
	struct hi_stream_maps record;
	memset(text, 'x', sizeof(text));
	for (size_t line = 99; line < sizeof(text); line += 100)
		text[line] = '\n';
	prepare();
	CHECK_EQ(pump_maps(&pump, &maps), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	CHECK_EQ(pread(file, &record, sizeof(record), read_to), sizeof(record));
	CHECK(record.record.size <= HI_STREAM_RECORD_MAX &&
	      record.text_size > HI_STREAM_RECORD_MAX - 200);
	CHECK_EQ(record.text_size % 100, 0);
	finish();
}

UNIT_MAIN()
