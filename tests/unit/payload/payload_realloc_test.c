/* SPDX-License-Identifier: MIT */
/*
 * payload_realloc_test.c - functions that change a block, or call each other: one free and one
 * allocation, whatever they call and whether they fail.
 */
#include <errno.h>

#include "payload_guest.h"

/* ---- realloc --------------------------------------------------------------------------------- */

UNIT_TEST(realloc_is_a_free_and_an_allocation)
{
	struct guest guest = guest_open(1);
	char *block = guest.realloc(NULL, 10), *larger;

	expect_alloc(&guest, block, 10, HI_FN_REALLOC);
	strcpy(block, "contents");
	larger = guest.realloc(block, 100000);
	CHECK_STR(larger, "contents");
	expect_free(&guest, HI_RECORD_FREE, block);
	expect_alloc(&guest, larger, 100000, HI_FN_REALLOC);
	block = guest.reallocarray(larger, 3, 7);
	expect_free(&guest, HI_RECORD_FREE, larger);
	expect_alloc(&guest, block, 21, HI_FN_REALLOCARRAY);
	guest.free(block);
	arena_drain(&guest.arena);
	arena_check_quiet(&guest.arena);
}

static void *failing_realloc(void *block, size_t size)
{
	(void)block, (void)size;
	errno = ENOMEM;
	return NULL;
}

UNIT_TEST(failed_realloc_takes_its_free_back)
{
	struct guest guest = guest_open(1);
	struct hi_gate_words *words = arena_gate(&guest.arena, HI_FN_REALLOC, hi_gate_realloc,
						 hi_hook_realloc, failing_realloc);
	realloc_fn *fail = (realloc_fn *)arena_entry(words);
	void *block = guest.malloc(10);

	arena_expect(&guest.arena, HI_RECORD_ALLOC);
	CHECK(!fail(block, 20));
	expect_free(&guest, HI_RECORD_FREE, block);
	expect_free(&guest, HI_RECORD_UNFREE, block);
	CHECK(!fail(NULL, 20));
	expect_nothing(&guest);
	guest.free(block);
	expect_free(&guest, HI_RECORD_FREE, block);
	arena_check_quiet(&guest.arena);
}

/* Where no live set is kept: of blocks that were there before us, too. */
UNIT_TEST(every_free_is_told_where_no_live_set_is_kept)
{
	struct guest guest = guest_open(1);
	struct hi_gate_words *words = arena_gate(&guest.arena, HI_FN_REALLOC, hi_gate_realloc,
						 hi_hook_realloc, failing_realloc);
	realloc_fn *fail = (realloc_fn *)arena_entry(words);
	void *unknown = malloc(10), *block;

	guest.arena.state->bucket_levels = 0;
	memset(guest.arena.occupancy, 255, 1ull << guest.arena.state->occupancy_bits);
	block = guest.malloc(10);
	expect_alloc(&guest, block, 10, HI_FN_MALLOC);
	CHECK(!fail(block, 20));
	expect_free(&guest, HI_RECORD_FREE, block);
	expect_free(&guest, HI_RECORD_UNFREE, block);
	guest.free(block);
	expect_free(&guest, HI_RECORD_FREE, block);
	guest.free(NULL);
	expect_nothing(&guest);
	guest.free(unknown);
	expect_free(&guest, HI_RECORD_FREE, unknown);
	expect_nothing(&guest);
	for (size_t i = 0; i < (size_t)HI_BUCKET_ENTRIES << guest.arena.state->bucket_bits; i++)
		CHECK_EQ(guest.arena.buckets[i], 0);
}

UNIT_TEST(realloc_to_nothing_frees)
{
	struct guest guest = guest_open(1);
	struct hi_gate_words *words = arena_gate(&guest.arena, HI_FN_REALLOC, hi_gate_realloc,
						 hi_hook_realloc, failing_realloc);
	realloc_fn *freeing = (realloc_fn *)arena_entry(words);
	void *block = guest.malloc(10);

	arena_expect(&guest.arena, HI_RECORD_ALLOC);
	CHECK(!freeing(block, 0)); /* NULL for a size of 0 is no failure */
	expect_free(&guest, HI_RECORD_FREE, block);
	expect_nothing(&guest);
	arena_check_quiet(&guest.arena);
	free(block);
}

static struct guest *calling_guest;

static void *reallocarray_by_import(void *block, size_t count, size_t size)
{
	return calling_guest->realloc(block, count * size);
}

/* As libc does it. The countdown falls twice, but the second time is no chance to be a sample. */
UNIT_TEST(reallocarray_that_calls_realloc_is_one_allocation)
{
	struct guest guest = guest_open(1 << 20);
	void *block;

	calling_guest = &guest;
	words_of((void *)guest.reallocarray)->original = (uintptr_t)reallocarray_by_import;
	guest.free(guest.malloc(1)); /* claims the slot */
	arena_drain(&guest.arena);
	set_countdown(&guest, 150);
	block = guest.reallocarray(NULL, 10, 10); /* 150 - 100 > 0, and 50 - 100 is realloc's */
	expect_nothing(&guest);
	CHECK(own_slot(&guest)->countdown > 0);
	guest.free(block);
	set_countdown(&guest, 100);
	block = guest.reallocarray(NULL, 10, 10);
	expect_alloc(&guest, block, 100, HI_FN_REALLOCARRAY);
	expect_nothing(&guest);
	guest.free(block);
	arena_drain(&guest.arena);
	arena_check_quiet(&guest.arena);
}

static void *memalign_by_import(size_t alignment, size_t size)
{
	return calling_guest->aligned_alloc(alignment, size);
}

UNIT_TEST(memalign_that_calls_aligned_alloc_is_one_allocation)
{
	struct guest guest = guest_open(1 << 20);
	void *block;

	calling_guest = &guest;
	words_of((void *)guest.memalign)->original = (uintptr_t)memalign_by_import;
	guest.free(guest.malloc(1));
	arena_drain(&guest.arena);
	set_countdown(&guest, 150);
	block = guest.memalign(16, 112);
	expect_nothing(&guest);
	CHECK(own_slot(&guest)->countdown > 0);
	guest.free(block);
	set_countdown(&guest, 100);
	block = guest.memalign(16, 112);
	expect_alloc(&guest, block, 112, HI_FN_MEMALIGN);
	expect_nothing(&guest);
	guest.free(block);
	arena_drain(&guest.arena);
	arena_check_quiet(&guest.arena);
}

UNIT_TEST(overflowing_reallocarray_keeps_the_block)
{
	struct guest guest = guest_open(1);
	void *block = guest.malloc(10);

	arena_expect(&guest.arena, HI_RECORD_ALLOC);
	CHECK(!guest.reallocarray(block, SIZE_MAX / 2, 4));
	expect_free(&guest, HI_RECORD_FREE, block);
	expect_free(&guest, HI_RECORD_UNFREE, block);
	guest.free(block);
	expect_free(&guest, HI_RECORD_FREE, block);
	arena_check_quiet(&guest.arena);
}

/* ---- jemalloc's own interface ---------------------------------------------------------------- */

static size_t seen_argument[6];

static size_t fake_xallocx(void *block, size_t size, size_t extra, int flags)
{
	(void)block;
	seen_argument[0] = size;
	seen_argument[1] = extra;
	seen_argument[2] = (size_t)flags;
	return size <= 128 ? 128 : 64;
}

UNIT_TEST(xallocx_resizes_in_place_or_not_at_all)
{
	struct guest guest = guest_open(1);
	size_t (*resize)(void *, size_t, size_t, int) =
		(size_t(*)(void *, size_t, size_t, int))arena_entry(
			arena_gate(&guest.arena, HI_FN_XALLOCX, hi_gate_always, hi_hook_xallocx,
				   fake_xallocx));
	void *block = guest.malloc(64);

	arena_expect(&guest.arena, HI_RECORD_ALLOC);
	CHECK_EQ(resize(block, 100, 5, 6), 128);
	CHECK_EQ(seen_argument[0], 100);
	CHECK_EQ(seen_argument[1], 5);
	CHECK_EQ(seen_argument[2], 6);
	expect_free(&guest, HI_RECORD_FREE, block);
	expect_alloc(&guest, block, 100, HI_FN_XALLOCX);
	CHECK_EQ(resize(block, 1000, 0, 0), 64);
	expect_nothing(&guest);
	guest.free(block);
	expect_free(&guest, HI_RECORD_FREE, block);
	arena_check_quiet(&guest.arena);
}

UNIT_TEST(failed_rallocx_of_any_size_keeps_the_block)
{
	struct guest guest = guest_open(1);
	realloc_fn *fail = (realloc_fn *)arena_entry(arena_gate(
		&guest.arena, HI_FN_RALLOCX, hi_gate_realloc, hi_hook_rallocx, failing_realloc));
	void *block = guest.malloc(64);

	arena_expect(&guest.arena, HI_RECORD_ALLOC);
	CHECK(!fail(block, 0));
	expect_free(&guest, HI_RECORD_FREE, block);
	expect_free(&guest, HI_RECORD_UNFREE, block);
	guest.free(block);
	arena_drain(&guest.arena);
	arena_check_quiet(&guest.arena);
}

UNIT_MAIN()
