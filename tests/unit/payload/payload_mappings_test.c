/* SPDX-License-Identifier: MIT */
/* payload_mappings_test.c - what is recorded of the heap of brk, which ends anywhere in a page. */
#include <unistd.h>

#include "payload_guest.h"

#define PAGE HI_PAGE_BYTES

void hi_hook_brk(void);

typedef int brk_fn(uint64_t);

static struct guest guest;
static brk_fn *move;
static uint64_t page; /* where the first whole page is that the heap does not have */

/* As glibc's, where the kernel refuses an end below the heap; what malloc has there stays. */
static int moved(uint64_t end)
{
	if (end > page + 100 * PAGE)
		return -1;
	if (end >= page)
		(void)!brk((void *)end);
	return 0;
}

static void begin(void)
{
	guest = guest_open(1);
	move = (brk_fn *)arena_entry(
		arena_gate(&guest.arena, HI_FN_BRK, hi_gate_always, hi_hook_brk, moved));
	page = ((uint64_t)sbrk(0) + PAGE - 1) / PAGE * PAGE;
}

static void expect_growth(uint64_t from, uint64_t to)
{
	const struct hi_record_alloc *record = arena_expect(&guest.arena, HI_RECORD_ALLOC);

	CHECK_EQ(record->address, from);
	CHECK_EQ(record->bytes, to - from);
	CHECK_EQ(record->function, HI_FN_BRK);
	CHECK_EQ(record->slack, HI_MAPPING_BY_BRK);
	expect_nothing(&guest);
}

static void expect_change(uint32_t change, uint64_t from, uint64_t to)
{
	union {
		struct hi_record_mapping mapping;
		uint8_t bytes[HI_RING_SIZE_MAX];
	} record;

	CHECK(arena_take(&guest.arena, &record));
	CHECK_EQ(record.mapping.header.type_busy, HI_RECORD_MAPPING);
	CHECK_EQ(record.mapping.change, change);
	CHECK_EQ(record.mapping.address, from);
	CHECK_EQ(record.mapping.bytes, to - from);
}

UNIT_TEST(whole_pages_come_and_go)
{
	begin();
	CHECK_EQ(move(page + 3 * PAGE), 0);
	expect_growth(page, page + 3 * PAGE);
	CHECK_EQ(move(page + PAGE), 0);
	expect_change(HI_MAPPING_GONE, page + PAGE, page + 3 * PAGE);
	expect_nothing(&guest);
}

UNIT_TEST(a_page_is_there_as_long_as_a_byte_of_it_is)
{
	begin();
	move(page + PAGE + 1);
	expect_growth(page, page + 2 * PAGE);
	move(page + 2 * PAGE);
	expect_nothing(&guest);
	move(page + PAGE + 1);
	expect_nothing(&guest);
	move(page + PAGE);
	expect_change(HI_MAPPING_GONE, page + PAGE, page + 2 * PAGE);
	expect_nothing(&guest);
}

UNIT_TEST(what_changes_nothing_is_not_recorded)
{
	begin();
	CHECK_EQ(move(page), 0);
	CHECK_EQ(move(page + 101 * PAGE), -1);
	expect_nothing(&guest);
}

UNIT_TEST(an_end_that_the_kernel_refuses_is_taken_back)
{
	begin();
	CHECK_EQ(move(page - 101 * PAGE), 0);
	expect_change(HI_MAPPING_GONE, page - 101 * PAGE, page);
	expect_change(HI_MAPPING_KEPT, page - 101 * PAGE, page);
	expect_nothing(&guest);
}

UNIT_MAIN()
