/* SPDX-License-Identifier: MIT */
/* payload_mappings_test.c - what is recorded of the heap of brk, which ends anywhere in a page. */
#include "payload_guest.h"

#define END 0x555555600000ull
#define PAGE HI_PAGE_BYTES

void hi_hook_sbrk(void);

typedef uint64_t sbrk_fn(int64_t);

static struct guest guest;
static uint64_t end;
static sbrk_fn *move;

static uint64_t moved(int64_t change)
{
	const uint64_t before = end;

	if (change > (int64_t)PAGE * 100)
		return UINT64_MAX;
	end += (uint64_t)change;
	return before;
}

static void begin(uint64_t at)
{
	guest = guest_open(1);
	end = at;
	move = (sbrk_fn *)arena_entry(
		arena_gate(&guest.arena, HI_FN_SBRK, hi_gate_always, hi_hook_sbrk, moved));
}

static void expect_growth(uint64_t from, uint64_t to)
{
	const struct hi_record_alloc *record = arena_expect(&guest.arena, HI_RECORD_ALLOC);

	CHECK_EQ(record->address, from);
	CHECK_EQ(record->bytes, to - from);
	CHECK_EQ(record->function, HI_FN_SBRK);
	CHECK_EQ(record->slack, HI_MAPPING_BY_BRK);
	expect_nothing(&guest);
}

static void expect_gone(uint64_t from, uint64_t to)
{
	union {
		struct hi_record_mapping mapping;
		uint8_t bytes[HI_RING_SIZE_MAX];
	} record;

	CHECK(arena_take(&guest.arena, &record));
	CHECK_EQ(record.mapping.header.type_busy, HI_RECORD_MAPPING);
	CHECK_EQ(record.mapping.change, HI_MAPPING_GONE);
	CHECK_EQ(record.mapping.address, from);
	CHECK_EQ(record.mapping.bytes, to - from);
	expect_nothing(&guest);
}

UNIT_TEST(whole_pages_come_and_go)
{
	begin(END);
	CHECK_EQ(move(3 * PAGE), END);
	expect_growth(END, END + 3 * PAGE);
	CHECK_EQ(move(-2 * (int64_t)PAGE), END + 3 * PAGE);
	expect_gone(END + PAGE, END + 3 * PAGE);
}

UNIT_TEST(a_page_is_there_as_long_as_a_byte_of_it_is)
{
	begin(END + 1);
	move(10);
	expect_nothing(&guest);
	move(PAGE);
	expect_growth(END + PAGE, END + 2 * PAGE);
	move(-10);
	expect_nothing(&guest);
	move(-(int64_t)PAGE);
	expect_gone(END + PAGE, END + 2 * PAGE);
}

UNIT_TEST(what_changes_nothing_is_not_recorded)
{
	begin(END);
	CHECK_EQ(move(0), END);
	CHECK_EQ(move(101 * PAGE), UINT64_MAX);
	expect_nothing(&guest);
}

UNIT_MAIN()
