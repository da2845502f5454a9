/* SPDX-License-Identifier: MIT */
/*
 * payload_nesting_test.c - calls that are nested in others, and calls that only look like it as
 * another one was left by a jump: by addresses on the thread's own stack, and on no other.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <ucontext.h>

#include "nesting.h"
#include "payload_guest.h"

#define DEEP 16384u
#define KEPT_MAX 64u
#define BYTES (16ul * HI_PAGE_BYTES)

void hi_hook_mmap(void);

typedef void *mmap_fn(void *, size_t, int, int, int, off_t);

static struct guest guest;
static mmap_fn *map;
static jmp_buf way_out;
static void *nested_block;
static void (*within)(void); /* what the original does first */
static void *kept[KEPT_MAX]; /* so that no block has leaked */
static size_t kept_count;

static void *malloc_with_more(size_t size)
{
	void (*more)(void) = within;

	within = NULL;
	if (more)
		more();
	kept[kept_count % KEPT_MAX] = malloc(size);
	return kept[kept_count++ % KEPT_MAX];
}

static void *mmap_with_more(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	void (*more)(void) = within;

	within = NULL;
	if (more)
		more();
	return mmap(at, bytes, protection, flags, fd, offset);
}

static void leave(void)
{
	longjmp(way_out, 1);
}

static void allocate(void)
{
	nested_block = guest.malloc(5);
}

static void map_some(void)
{
	nested_block = map(NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/*
 * Fills a part of the stack below its caller, and calls the function below that. (AddressSanitizer
 * would leave more room around it.)
 */
__attribute__((noinline, no_sanitize("address"))) static void far_below(void (*function)(void),
									int byte)
{
	volatile char room[DEEP];

	for (size_t i = 0; byte >= 0 && i < sizeof(room); i++)
		room[i] = (char)byte;
	function();
	__asm__ volatile("" : : "r"(room) : "memory");
}

static void nothing(void)
{
}

static uint64_t end_of_main_stack(void)
{
	char line[512];
	uint64_t lo, hi = 0;
	FILE *file = fopen("/proc/self/maps", "r");

	CHECK(file);
	while (fgets(line, sizeof(line), file) && !strstr(line, "[stack]"))
		;
	CHECK_EQ(sscanf(line, "%" SCNx64 "-%" SCNx64, &lo, &hi), 2);
	fclose(file);
	return hi;
}

static void begin(void)
{
	guest = guest_open(1);
	guest.malloc_words->original = (uintptr_t)malloc_with_more;
	map = (mmap_fn *)arena_entry(
		arena_gate(&guest.arena, HI_FN_MMAP, hi_gate_always, hi_hook_mmap, mmap_with_more));
	far_below(nothing, 0); /* the stack has grown that far */
	guest.arena.control->main_stack = end_of_main_stack();
	arena_publish_regions(&guest.arena);
}

static void expect_sample(void (*function)(void))
{
	function();
	CHECK_EQ(arena_expect(&guest.arena, HI_RECORD_ALLOC)->address, (uintptr_t)nested_block);
	expect_nothing(&guest);
}

static void expect_change(uint32_t change)
{
	union {
		struct hi_record_mapping mapping;
		uint8_t bytes[HI_RING_SIZE_MAX];
	} record;

	CHECK(arena_take(&guest.arena, &record));
	CHECK_EQ(record.mapping.header.type_busy, HI_RECORD_MAPPING);
	CHECK_EQ(record.mapping.change, change);
	CHECK_EQ(record.mapping.address, (uintptr_t)nested_block);
}

static void jump_out_of_malloc(void)
{
	if (!setjmp(way_out)) {
		within = leave;
		guest.malloc(20);
	}
}

static void jump_out_from_below(void)
{
	if (!setjmp(way_out)) {
		within = leave;
		far_below(allocate, -1);
	}
}

/* ---- on the thread's own stack --------------------------------------------------------------- */

UNIT_TEST(nested_calls_are_no_samples)
{
	void *block;

	begin();
	within = allocate;
	block = guest.malloc(20);
	expect_alloc(&guest, block, 20, HI_FN_MALLOC);
	expect_nothing(&guest);
	within = map_some;
	block = guest.malloc(20);
	expect_change(HI_MAPPING_ALLOCATOR);
	expect_alloc(&guest, block, 20, HI_FN_MALLOC);
}

UNIT_TEST(a_call_above_one_that_was_left_is_a_sample)
{
	begin();
	jump_out_from_below();
	CHECK_EQ(own_slot(&guest)->in_flight, 1);
	expect_sample(allocate);
	expect_sample(map_some);
	CHECK_EQ(own_slot(&guest)->in_flight, 1);
}

static void allocate_and_check(void)
{
	expect_sample(allocate);
	expect_sample(map_some);
}

UNIT_TEST(a_call_below_one_that_was_left_is_a_sample_once_its_frame_is_gone)
{
	begin();
	jump_out_of_malloc();
	far_below(allocate, -1);
	expect_nothing(&guest);
	far_below(allocate_and_check, 1);
}

/* A call that is itself the outermost again. */
UNIT_TEST(nested_calls_are_known_after_a_jump)
{
	begin();
	jump_out_from_below();
	expect_sample(allocate);
	within = map_some;
	guest.malloc(20);
	expect_change(HI_MAPPING_ALLOCATOR);
	arena_expect(&guest.arena, HI_RECORD_ALLOC);
	jump_out_from_below();
	expect_sample(map_some);
	CHECK_EQ(own_slot(&guest)->in_flight, 2);
}

/* Such a thread has places only, and keeps one. */
UNIT_TEST(the_same_of_a_guest)
{
	begin();
	*own_slot(&guest) = (struct hi_thread_slot){.owner = arch_thread_pointer() | HI_SLOT_GUEST};
	jump_out_from_below();
	expect_sample(allocate);
	expect_sample(map_some);
	within = map_some;
	guest.malloc(20);
	expect_change(HI_MAPPING_ALLOCATOR);
	arena_expect(&guest.arena, HI_RECORD_ALLOC);
}

/* ---- mappings of signal handlers ------------------------------------------------------------- */

UNIT_TEST(a_mapping_in_a_call_that_maps_is_not_the_allocators)
{
	void *at;

	begin();
	within = map_some;
	at = map(NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	expect_change(HI_MAPPING_NESTED);
	CHECK_EQ(arena_expect(&guest.arena, HI_RECORD_ALLOC)->address, (uintptr_t)at);
}

/* ---- other stacks ---------------------------------------------------------------------------- */

static ucontext_t here, there;

static void on_another_stack(void (*function)(void))
{
	static char stack[65536];

	CHECK_EQ(getcontext(&there), 0);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, function, 0);
	CHECK_EQ(swapcontext(&here, &there), 0);
}

static void map_elsewhere(void)
{
	on_another_stack(map_some);
}

static void allocate_elsewhere(void)
{
	on_another_stack(allocate);
}

UNIT_TEST(nothing_follows_from_addresses_on_other_stacks)
{
	void *block;

	begin();
	within = map_elsewhere;
	block = guest.malloc(20);
	expect_change(HI_MAPPING_NESTED);
	expect_alloc(&guest, block, 20, HI_FN_MALLOC);
	within = allocate_elsewhere;
	block = guest.malloc(20);
	expect_alloc(&guest, block, 20, HI_FN_MALLOC);
	expect_nothing(&guest);
	jump_out_of_malloc();
	map_elsewhere();
	expect_change(HI_MAPPING_NESTED);
}

static void leave_elsewhere(void)
{
	if (!setjmp(way_out)) {
		within = leave;
		allocate_elsewhere();
	}
}

/* The call that was left was on that other stack. */
UNIT_TEST(a_call_on_the_own_stack_is_not_nested_in_one_elsewhere)
{
	begin();
	leave_elsewhere();
	CHECK_EQ(own_slot(&guest)->in_flight, 1);
	expect_sample(map_some);
	expect_sample(allocate);
	expect_sample(map_elsewhere);
	expect_sample(allocate_elsewhere);
	/* the same of a guest, which has places only */
	leave_elsewhere();
	*own_slot(&guest) = (struct hi_thread_slot){.owner = arch_thread_pointer() | HI_SLOT_GUEST};
	leave_elsewhere();
	expect_sample(allocate);
	expect_sample(map_elsewhere);
	CHECK_EQ(guest.arena.control->counters.passed_bytes, 0);
}

/* Until there is a call on the thread's own stack. */
UNIT_TEST(what_stays_elsewhere_is_unknown_and_counted)
{
	const struct hi_counters *counters;

	begin();
	counters = &guest.arena.control->counters;
	leave_elsewhere();
	map_elsewhere();
	expect_change(HI_MAPPING_NESTED);
	allocate_elsewhere();
	expect_nothing(&guest);
	CHECK_EQ(counters->no_thread_slot, 1);
	CHECK_EQ(counters->passed_bytes, 5);
	guest.arena.control->interval = 1 << 20;
	own_slot(&guest)->countdown = 5;
	allocate_elsewhere();
	CHECK_EQ(counters->passed_bytes, 5 + 5 + (1 << 20));
	expect_nothing(&guest);
}

UNIT_MAIN()
