/* SPDX-License-Identifier: MIT */
/* pump_events_test.c - what the payload has recorded becomes threads, stacks and events. */
#include "method_scene.h"
#include "pumped.h"

#include <pthread.h>

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
	CHECK_EQ(
		memcmp(got->bytes + sizeof(got->thread), "pump_events_test", got->thread.name_size),
		0);
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

/* A record of a known stack, of 48 bytes, that had a key of struct hi_thinning. */
static void put_keyed(uint32_t stack, uint16_t key)
{
	uint64_t record[2 * HI_RING_UNIT / 8] = {0};
	struct hi_record_known known = {.address = 0x5000,
					.bytes = 48,
					.stack = stack,
					.function = HI_FN_MALLOC,
					.interval_shift = 3,
					.thinning_key = key};

	put_header(&known.header, sizeof(record), HI_RECORD_KNOWN);
	memcpy(record, &known, sizeof(known));
	put(record, sizeof(record));
}

UNIT_TEST(places_that_were_thinned_are_told)
{
	static struct thinned_due due;
	const union stream_any *got;

	prepare();
	pump.interval = 64;
	put_keyed(put_stack(128, 3), 0);
	put_keyed(put_stack(256, 3), 5 + 1);
	round_once();
	expect(HI_STREAM_THREAD);
	expect(HI_STREAM_STACK);
	expect(HI_STREAM_STACK);
	CHECK_EQ(expect(HI_STREAM_ALLOC)->alloc.interval, 64 << 3);
	CHECK_EQ(expect(HI_STREAM_ALLOC)->alloc.stack, 2);
	CHECK_EQ(pump_thinned(&pump, &due), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	expect_nothing();
	thinned_due_add(&due, 5, &(struct thinned_due_part){100, 10, 64});
	CHECK_EQ(pump_thinned(&pump, &due), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	got = expect(HI_STREAM_THINNED);
	CHECK_EQ(got->thinned.count, 1);
	CHECK_EQ(got->record.size, sizeof(got->thinned) + sizeof(struct hi_stream_thinned_place));
	const struct hi_stream_thinned_place *place =
		(const void *)(got->bytes + sizeof(got->thinned));
	CHECK_EQ(place->stack, 2);
	CHECK_EQ(place->size_bits, 6);
	CHECK_EQ(place->grain, 100 * (48 + 64) * 2 / 3);
	finish();
}

/* ---- interpreted methods ----------------------------------------------------------------------
 */

static struct scene scene;
static struct hotspot hotspot;

static void prepare_methods(void)
{
	prepare();
	scene_open(&scene);
	scene.perf_start = (uintptr_t)&scene.perf;
	hotspot = (struct hotspot){.is_known = true, .layout = scene.layout};
	pump.code.hotspot = &hotspot;
}

/* A stack from C through a method. */
static uint32_t put_interpreted(uint64_t offset)
{
	const uint32_t id = put_stack(offset, 3);
	struct hi_stack *stack = (struct hi_stack *)(void *)((uint8_t *)stacks + offset);

	stack->frame[1] = HI_FRAME_METHOD | (uintptr_t)&scene.method;
	return id;
}

/* As put_known, but now. */
static void put_known_now(uint64_t address, uint32_t stack)
{
	uint64_t *cycles = (uint64_t *)(void *)(ring->data + ring->head % CAPACITY) + 1;

	put_known(address, stack);
	*cycles = arch_cycles();
}

static uint64_t expect_code(const char *name)
{
	const struct hi_stream_code *code = (const void *)expect(HI_STREAM_CODE);

	CHECK_EQ(code->name_size, strlen(name));
	CHECK(!memcmp(code + 1, name, code->name_size));
	return code->lo;
}

static uint64_t expect_method_stack(uint32_t number)
{
	const union stream_any *got = expect(HI_STREAM_STACK);

	CHECK_EQ(got->stack.stack, number);
	CHECK_EQ(got->stack.frame_count, 3);
	return got->word[sizeof(got->stack) / 8 + 1];
}

UNIT_TEST(an_interpreted_frame_leads_to_its_methods_name)
{
	prepare_methods();
	const uint32_t stack = put_interpreted(128);
	put_known_now(0x5000, stack);
	put_known_now(0x6000, stack);
	round_once();

	expect(HI_STREAM_THREAD);
	const uint64_t lo = expect_code("int a.B.go()");
	CHECK(lo >= HI_STREAM_METHODS && lo < 2 * HI_STREAM_METHODS);
	CHECK_EQ(expect_method_stack(1), lo + 1);
	CHECK_EQ(expect(HI_STREAM_ALLOC)->alloc.stack, 1);
	CHECK_EQ(expect(HI_STREAM_ALLOC)->alloc.stack, 1);
	expect_nothing();
	finish();
	memory_close(&scene.memory);
}

UNIT_TEST(a_stack_through_another_method_at_that_address_is_another_stack)
{
	prepare_methods();
	const uint32_t stack = put_interpreted(128);
	put_known_now(0x5000, stack);
	round_once();
	scene.name = symbol("gone");
	scene.perf.counter[1].value++;
	round_once(); /* sees it */
	put_known_now(0x6000, stack);
	put_known_now(0x7000, stack);
	round_once();

	expect(HI_STREAM_THREAD);
	const uint64_t first = expect_code("int a.B.go()");
	CHECK_EQ(expect_method_stack(1), first + 1);
	CHECK_EQ(expect(HI_STREAM_ALLOC)->alloc.stack, 1);
	const uint64_t second = expect_code("int a.B.gone()");
	CHECK(second != first);
	CHECK_EQ(expect_method_stack(2), second + 1);
	CHECK_EQ(expect(HI_STREAM_ALLOC)->alloc.stack, 2);
	CHECK_EQ(expect(HI_STREAM_ALLOC)->alloc.stack, 2);
	expect_nothing();
	finish();
	memory_close(&scene.memory);
}

/* Recorded after the round began, and after the unloading that it has not seen. */
UNIT_TEST(a_record_that_is_younger_than_the_last_look_makes_another)
{
	uint32_t number;

	prepare_methods();
	const uint32_t stack = put_interpreted(128);
	code_out_look(&pump.code);
	CHECK_EQ(pump_stack_number(&pump, stack, arch_cycles(), &number), 0);
	CHECK_EQ(number, 1);
	CHECK_EQ(pump_stack_number(&pump, stack, arch_cycles(), &number), 0);
	CHECK_EQ(number, 1);
	scene.name = symbol("gone");
	scene.perf.counter[1].value++;
	CHECK_EQ(pump_stack_number(&pump, stack, arch_cycles(), &number), 0);
	CHECK_EQ(number, 2);
	CHECK_EQ(stream_out_flush(&out), 0);

	expect_code("int a.B.go()");
	expect_method_stack(1);
	expect_code("Interpreter");
	expect_method_stack(2);
	expect_nothing();
	finish();
	memory_close(&scene.memory);
}

UNIT_TEST(a_record_with_frames_of_its_own_has_names_too)
{
	prepare_methods();
	put_alloc(0x5000, 77, 2);
	*(uint64_t *)(void *)(ring->data + offsetof(struct hi_record_alloc, frame) + 8) =
		HI_FRAME_METHOD | (uintptr_t)&scene.method;
	round_once();

	expect(HI_STREAM_THREAD);
	const uint64_t lo = expect_code("int a.B.go()");
	const union stream_any *got = expect(HI_STREAM_ALLOC);
	CHECK_EQ(got->word[sizeof(got->alloc) / 8 + 1], lo + 1);
	expect_nothing();
	finish();
	memory_close(&scene.memory);
}

UNIT_MAIN()
