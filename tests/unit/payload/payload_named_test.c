/* SPDX-License-Identifier: MIT */
/*
 * payload_named_test.c - functions that the user has named, called through their hooks: arguments,
 * what is nested, jumps, sizes that make no sense, frees, pools.
 */
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>

#include "kept_registers.h"
#include "payload_arena.h"

#define POOL ((void *)0x1000)
#define BLOCK ((void *)0x20000)

typedef void *pool_fn(void *pool, size_t size);

static struct arena arena;
static pool_fn *entry, *inner_entry;
static void *(*malloc_entry)(size_t);
static jmp_buf out;
static bool jumps, is_nested, disarms, is_disarmed;
static unsigned gadget = 2; /* the one that is used */

static void *leaf_malloc(size_t size)
{
	return size ? (void *)0x30000 : NULL;
}

static void *pool_alloc(void *pool, size_t size)
{
	CHECK(pool == POOL || !pool);
	if (jumps)
		longjmp(out, 1);
	if (is_nested) {
		CHECK_EQ(arena.table->named, 1);
		malloc_entry(size);
		return inner_entry(pool, size);
	}
	return BLOCK;
}

static void *inner_alloc(void *pool, size_t size)
{
	return pool && size ? BLOCK : NULL;
}

static struct hi_gate_words *named(enum hi_function function, void (*hook)(void), void *original,
				   struct hi_named_arguments arguments)
{
	struct hi_gate_words *words = arena_gate(&arena, function, hi_gate_always, hook, original);

	words->named = arguments;
	words->return_gadget = (uintptr_t)gadgets[gadget];
	words->return_register = gadget;
	return words;
}

/* The regions, and the end of the stack on which the tests run. */
static void publish_stack(void)
{
	const struct hi_regions *regions = &arena.control->regions[0];
	const uint64_t here = (uintptr_t)__builtin_frame_address(0);

	arena_publish_regions(&arena);
	for (unsigned i = 0; i < regions->count; i++)
		if (regions->range[i].lo <= here && here < regions->range[i].hi)
			arena.control->main_stack = regions->range[i].hi;
	CHECK(arena.control->main_stack);
}

static void open_arena(bool is_filtered)
{
	const struct hi_named_arguments of = {.size = 2, .pool = 1, .is_filtered = is_filtered};

	arena = arena_open(1, 10, 1 << 16);
	publish_stack();
	jumps = is_nested = disarms = is_disarmed = false;
	entry = (pool_fn *)arena_entry(
		named(HI_FN_NAMED_ALLOC_0, hi_hook_named_alloc_0, pool_alloc, of));
	inner_entry = (pool_fn *)arena_entry(
		named(HI_FN_NAMED_ALLOC_1, hi_hook_named_alloc_1, inner_alloc, of));
	malloc_entry = (void *(*)(size_t))arena_entry(
		arena_gate(&arena, HI_FN_MALLOC, hi_gate_alloc, hi_hook_malloc, leaf_malloc));
}

static void expect_alloc(enum hi_function function, uint64_t address, uint64_t bytes)
{
	const struct hi_record_alloc *record = arena_expect(&arena, HI_RECORD_ALLOC);

	CHECK_EQ(record->function, function);
	CHECK_EQ(record->address, address);
	CHECK_EQ(record->bytes, bytes);
}

static void expect_change(enum hi_named_change change, uint64_t address, uint64_t pool)
{
	const struct hi_record_named *record = (const void *)arena_expect(&arena, HI_RECORD_NAMED);

	CHECK_EQ(record->change, change);
	CHECK_EQ(record->address, address);
	CHECK_EQ(record->pool, pool);
}

static void expect_nothing(void)
{
	uint64_t record[HI_RING_SIZE_MAX / 8];

	CHECK(!arena_take(&arena, record));
	CHECK_EQ(arena.table->named, 0);
}

/* Vectors: integration case named_functions, as the payload of this program uses some. */
static void *pool_many(void *pool, size_t size, long c, long d, long e, long f, long g, long h)
{
	CHECK(pool == POOL && size == 10);
	CHECK(c == 3 && d == 4 && e == 5 && f == 6 && g == 7 && h == 8);
	return BLOCK;
}

UNIT_TEST(all_arguments_arrive)
{
	void *(*many)(void *, size_t, long, long, long, long, long, long);

	open_arena(false);
	many = (void *)arena_entry(named(HI_FN_NAMED_ALLOC_0, hi_hook_named_alloc_0, pool_many,
					 (struct hi_named_arguments){.size = 2, .pool = 1}));
	CHECK(many(POOL, 10, 3, 4, 5, 6, 7, 8) == BLOCK);
	expect_alloc(HI_FN_NAMED_ALLOC_0, (uintptr_t)BLOCK, 10);
	expect_change(HI_NAMED_POOLED, (uintptr_t)BLOCK, (uintptr_t)POOL);
	expect_nothing();
}

struct pair {
	long first, second;
};

/* A detach may begin while the original runs. */
static void maybe_disarm(void)
{
	if (disarms)
		arena.state->armed = 0;
}

static struct pair pair_alloc(void *pool, size_t size)
{
	maybe_disarm();
	return (struct pair){(long)pool, (long)size};
}

__extension__ typedef unsigned __int128 wide;
static wide wide_alloc(void *pool, size_t size)
{
	maybe_disarm();
	return (wide)(uintptr_t)pool << 64 | size;
}

static long double long_alloc(void *pool, size_t size)
{
	maybe_disarm();
	return pool ? size + 0.25L : 0;
}

static _Complex long double complex_alloc(void *pool, size_t size)
{
	long double parts[2] = {size + 0.25L, 7};
	_Complex long double all;

	maybe_disarm();
	CHECK(pool == POOL);
	memcpy(&all, parts, sizeof(all));
	return all;
}

struct large {
	long word[9];
};
static struct large large_alloc(void *pool, size_t size)
{
	maybe_disarm();
	return (struct large){{(long)pool, (long)size, 3, 4, 5, 6, 7, 8, 9}};
}

static void *entry_to(void *original)
{
	arena.state->armed = !is_disarmed;
	return arena_entry(named(HI_FN_NAMED_ALLOC_0, hi_hook_named_alloc_0, original,
				 (struct hi_named_arguments){.size = 2}));
}

static void check_results(size_t size)
{
	const struct pair pair = ((struct pair(*)(void *, size_t))entry_to(pair_alloc))(POOL, size);
	const wide both = ((wide(*)(void *, size_t))entry_to(wide_alloc))(POOL, size);
	const long double real =
		((long double (*)(void *, size_t))entry_to(long_alloc))(POOL, size);
	const _Complex long double whole =
		((_Complex long double (*)(void *, size_t))entry_to(complex_alloc))(POOL, size);
	const struct large large =
		((struct large(*)(void *, size_t))entry_to(large_alloc))(POOL, size);

	CHECK(pair.first == (long)POOL && pair.second == (long)size);
	CHECK(both == ((wide)(uintptr_t)POOL << 64 | size));
	CHECK(LONG_DOUBLES_IN_VECTORS || real == size + 0.25L);
	CHECK(LONG_DOUBLES_IN_VECTORS || (__real__ whole == size + 0.25L && __imag__ whole == 7));
	CHECK(large.word[0] == (long)POOL && large.word[1] == (long)size && large.word[8] == 9);
}

/* Vectors: integration case named_results, as the payload of this program, or its libc, uses some.
 */
UNIT_TEST(results_come_back_whole)
{
	open_arena(false);
	check_results(10);
	arena_drain(&arena);
	CHECK(arena_allocs(&arena) >= 1);
	is_disarmed = true;
	check_results(11);
	CHECK_EQ(arena.table->named, 0);
}

UNIT_TEST(results_come_back_whole_where_no_sample_is_due)
{
	open_arena(false);
	arena.control->interval = 1 << 20;
	check_results(1);
	check_results(2);
	arena_drain(&arena);
	CHECK(arena_allocs(&arena) < 3);
	CHECK_EQ(arena.table->named, 0);
}

UNIT_TEST(results_come_back_whole_from_a_call_in_which_detach_began)
{
	open_arena(false);
	disarms = true;
	arena.state->unforked = 1;
	check_results(10);
	CHECK_EQ(arena.table->named, 0);
}

UNIT_TEST(only_the_register_of_the_gadget_is_replaced)
{
	open_arena(false);
	for (gadget = 0; gadget < KEPT; gadget++) {
		uint64_t kept[KEPT] = {11, 22, 33, 44, 55};

		return_register = gadget;
		call_with_kept(entry_to(kept_alloc), kept);
		for (unsigned i = 0; i < KEPT; i++) {
			const bool is_replaced = i == gadget;

			CHECK_EQ(kept[i], 11 * (i + 1) + !is_replaced);
			CHECK(is_replaced || seen_kept[i] == 11 * (i + 1));
		}
	}
	gadget = 2;
}

UNIT_TEST(what_malloc_gives_within_is_not_nested)
{
	open_arena(false);
	is_nested = true;
	CHECK(entry(POOL, 100) == BLOCK);
	expect_alloc(HI_FN_MALLOC, 0x30000, 100);
	expect_alloc(HI_FN_NAMED_ALLOC_0, (uintptr_t)BLOCK, 100);
	expect_change(HI_NAMED_POOLED, (uintptr_t)BLOCK, (uintptr_t)POOL);
	expect_nothing();
}

UNIT_TEST(after_a_jump_calls_are_no_nested_ones)
{
	open_arena(false);
	jumps = true;
	if (!setjmp(out))
		entry(POOL, 100);
	jumps = false;
	CHECK_EQ(arena.table->named, 1); /* detach proves that nobody is inside */
	CHECK(entry(NULL, 100) == BLOCK);
	expect_alloc(HI_FN_NAMED_ALLOC_0, (uintptr_t)BLOCK, 100);
	malloc_entry(10);
	expect_alloc(HI_FN_MALLOC, 0x30000, 10);
	CHECK_EQ(arena.table->named, 1);
}

UNIT_TEST(sizes_that_make_no_sense_are_counted)
{
	open_arena(false);
	CHECK(entry(NULL, (uintptr_t)&arena) == BLOCK);
	expect_nothing();
	CHECK_EQ(arena.control->named[0].calls, 1);
	CHECK_EQ(arena.control->named[0].senseless, 1);
}

/* As in a program that is not PIE, whose heap begins at an address of some megabytes. */
UNIT_TEST(a_size_that_is_an_address_is_one_if_debug_information_says_so)
{
	const uint64_t low = 64 << 20;
	void *heap = mmap((void *)low, 1 << 20, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	pool_fn *of_known;

	if (heap != (void *)low)
		SKIP("that address is in use");
	open_arena(false);
	CHECK(entry(NULL, low + 100) == BLOCK);
	expect_nothing();
	CHECK_EQ(arena.control->named[0].senseless, 1);
	of_known = (pool_fn *)arena_entry(
		named(HI_FN_NAMED_ALLOC_0, hi_hook_named_alloc_0, pool_alloc,
		      (struct hi_named_arguments){.size = 2, .size_is_known = 1}));
	CHECK(of_known(NULL, low + 100) == BLOCK);
	expect_alloc(HI_FN_NAMED_ALLOC_0, (uintptr_t)BLOCK, low + 100);
	expect_nothing();
	CHECK_EQ(arena.control->named[0].senseless, 1);
}

UNIT_TEST(the_upper_half_of_an_int_means_nothing)
{
	pool_fn *of_int;

	open_arena(false);
	of_int = (pool_fn *)arena_entry(
		named(HI_FN_NAMED_ALLOC_0, hi_hook_named_alloc_0, pool_alloc,
		      (struct hi_named_arguments){.size = 2, .size_is_int = 1}));
	CHECK(of_int(NULL, 0xdeadbeef00000010) == BLOCK);
	expect_alloc(HI_FN_NAMED_ALLOC_0, (uintptr_t)BLOCK, 16);
	expect_nothing();
}

static int pool_store(void *where, size_t size)
{
	if (size == 1)
		*(void **)where = BLOCK;
	return 7;
}

UNIT_TEST(a_block_is_read_only_on_the_stack_of_the_caller)
{
	int (*store)(void *, size_t);
	void *block = NULL, **elsewhere = malloc(sizeof(*elsewhere));

	open_arena(false);
	store = (void *)arena_entry(
		named(HI_FN_NAMED_ALLOC_0, hi_hook_named_alloc_0, pool_store,
		      (struct hi_named_arguments){.size = 2, .block = 1, .kind = HI_NAMED_STORED}));
	CHECK_EQ(store(&block, 1), 7);
	expect_alloc(HI_FN_NAMED_ALLOC_0, (uintptr_t)BLOCK, 1);
	CHECK_EQ(store((void *)0x123450, 2), 7);
	CHECK_EQ(store((char *)&block + 1, 2), 7);
	CHECK_EQ(store(elsewhere, 1), 7);
	expect_nothing();
	CHECK_EQ(arena.control->named[0].senseless, 3);
	free(elsewhere);
}

static void *pool_realloc(void *old, size_t size)
{
	return old && size < 100 ? (char *)BLOCK + 64 : NULL;
}

UNIT_TEST(a_block_that_moves_goes_and_comes)
{
	pool_fn *resize;

	open_arena(true);
	resize = (pool_fn *)arena_entry(
		named(HI_FN_NAMED_ALLOC_1, hi_hook_named_alloc_1, pool_realloc,
		      (struct hi_named_arguments){
			      .size = 2, .block = 1, .kind = HI_NAMED_MOVED, .is_filtered = 1}));
	CHECK(entry(NULL, 10) == BLOCK);
	expect_alloc(HI_FN_NAMED_ALLOC_0, (uintptr_t)BLOCK, 10);
	CHECK(!resize(BLOCK, 200));
	expect_change(HI_NAMED_FREED, (uintptr_t)BLOCK, 0);
	expect_change(HI_NAMED_KEPT, (uintptr_t)BLOCK, 0);
	CHECK(resize(BLOCK, 20) == (char *)BLOCK + 64);
	expect_change(HI_NAMED_FREED, (uintptr_t)BLOCK, 0);
	expect_alloc(HI_FN_NAMED_ALLOC_1, (uintptr_t)BLOCK + 64, 20);
	expect_nothing();
}

static void pool_free(void *pool, void *block)
{
	(void)pool, (void)block;
}

UNIT_TEST(frees_of_samples_are_recorded_and_those_of_pools_always)
{
	void (*release)(void *, void *), (*destroy)(void *, void *);

	open_arena(true);
	release = (void *)arena_entry(
		named(HI_FN_NAMED_FREE_0, hi_hook_named_free_0, pool_free,
		      (struct hi_named_arguments){.block = 2, .is_filtered = 1}));
	destroy = (void *)arena_entry(named(HI_FN_NAMED_FREE_0, hi_hook_named_free_0, pool_free,
					    (struct hi_named_arguments){.pool = 1}));
	release(POOL, BLOCK);
	expect_nothing();
	CHECK(entry(NULL, 10) == BLOCK);
	expect_alloc(HI_FN_NAMED_ALLOC_0, (uintptr_t)BLOCK, 10);
	release(POOL, BLOCK);
	expect_change(HI_NAMED_FREED, (uintptr_t)BLOCK, 0);
	release(POOL, BLOCK);
	expect_nothing();
	destroy(POOL, BLOCK);
	expect_change(HI_NAMED_POOL_GONE, 0, (uintptr_t)POOL);
	expect_nothing();
	arena_check_quiet(&arena);
}

UNIT_MAIN()
