// SPDX-License-Identifier: MIT
// pins: pages and slabs that are laid out by hand, and whom their free memory is charged to.
#include "pins.h"

#include "hi_wire.h"
#include "unit.h"

#define PAGE HI_PAGE_BYTES
#define LO 0x100000u
#define ITEMS 16u

enum { RED, BLUE, GROUPS };

static struct mark_block block[ITEMS];
static uint32_t group[ITEMS];
static struct release_units units;
static struct page_run resident_run[ITEMS];
static struct resident resident = {.run = resident_run};
static struct pins_of of = {.block = block,
			    .group = group,
			    .group_count = GROUPS,
			    .units = &units,
			    .resident = &resident};

static void add_unit(uint64_t lo, uint64_t hi, bool is_whole)
{
	const struct heap_unit unit = {
		.lo = LO + lo,
		.hi = LO + hi,
		.is_whole = is_whole,
		.before_bytes = is_whole ? 0 : 16,
		.after_bytes = is_whole ? 0 : 40,
	};
	const struct heap_visitor visitor = release_units_visitor(&units);

	CHECK_EQ(visitor.unit(visitor.context, &unit), 0);
}

static void add_piece(uint64_t lo, uint64_t hi, enum heap_kind kind)
{
	const struct heap_piece piece = {.address = LO + lo, .bytes = hi - lo, .kind = kind};
	const struct heap_visitor visitor = release_units_visitor(&units);

	CHECK_EQ(visitor.piece(visitor.context, &piece), 0);
}

static void add_block(uint64_t lo, uint64_t hi, uint32_t of_group)
{
	add_piece(lo, hi, HEAP_USED);
	block[of.count] = (struct mark_block){LO + lo, hi - lo};
	group[of.count++] = of_group;
}

static void set_resident(uint64_t lo, uint64_t hi)
{
	resident_run[resident.count++] = (struct page_run){.lo = LO + lo, .hi = LO + hi};
}

static struct pins found(void)
{
	static struct pins pins;

	release_units_sort(&units);
	CHECK_EQ(pins_find(&of, &pins), 0);
	CHECK_EQ(pins.pinned, pins.group[RED].pinned + pins.group[BLUE].pinned);
	return pins;
}

UNIT_TEST(a_slab_is_charged_to_its_blocks)
{
	add_unit(0, 4 * PAGE, true);
	add_piece(0, 64, HEAP_METADATA);
	add_block(64, 164, RED);
	add_piece(164, 264, HEAP_FREE);
	add_block(264, 364, RED);
	add_block(364, 464, BLUE);
	add_piece(464, 4 * PAGE, HEAP_FREE);
	set_resident(0, 4 * PAGE);
	const struct pins pins = found();

	CHECK_EQ(pins.free, 100 + 4 * PAGE - 464);
	CHECK_EQ(pins.pinned, pins.free);
	CHECK(pins.group[RED].pinned - 2 * pins.group[BLUE].pinned <= 2);
	CHECK_EQ(pins.group[RED].goes_back + pins.group[BLUE].goes_back, 0);
}

UNIT_TEST(a_slab_of_one_class_goes_back)
{
	add_unit(0, 2 * PAGE, true);
	add_piece(0, 64, HEAP_METADATA);
	add_block(64, 164, RED);
	add_piece(164, 2 * PAGE, HEAP_FREE);
	add_unit(2 * PAGE, 3 * PAGE, true);
	add_block(2 * PAGE, 2 * PAGE + 100, BLUE);
	add_piece(2 * PAGE + 100, 3 * PAGE, HEAP_FREE);
	set_resident(0, PAGE); /* the rest was never touched */
	set_resident(2 * PAGE, 3 * PAGE);
	const struct pins pins = found();

	CHECK_EQ(pins.group[RED].goes_back, PAGE);
	CHECK_EQ(pins.group[RED].pinned, PAGE - 164);
	CHECK_EQ(pins.group[BLUE].goes_back, PAGE);
	CHECK_EQ(pins.group[BLUE].pinned, PAGE - 100);
}

UNIT_TEST(cached_blocks_keep_a_slab)
{
	add_unit(0, PAGE, true);
	add_block(0, 100, RED);
	add_piece(100, 200, HEAP_CACHED);
	add_piece(200, PAGE, HEAP_FREE);
	add_unit(PAGE, 2 * PAGE, true);
	add_piece(PAGE, PAGE + 100, HEAP_CACHED);
	add_piece(PAGE + 100, 2 * PAGE, HEAP_FREE);
	add_unit(2 * PAGE, 3 * PAGE, true); /* nobody keeps it */
	add_piece(2 * PAGE, 3 * PAGE, HEAP_FREE);
	set_resident(0, 3 * PAGE);
	const struct pins pins = found();

	CHECK_EQ(pins.group[RED].pinned, PAGE - 100);
	CHECK_EQ(pins.group[RED].goes_back, 0);
	CHECK_EQ(pins.pinned_by_caches, PAGE);
	CHECK_EQ(pins.free, 3 * PAGE - 100);
}

/* red in the first page, red and blue in the third, nothing in the second */
UNIT_TEST(pages_go_back_one_by_one)
{
	add_unit(0, 4 * PAGE, false);
	add_block(16, 116, RED);
	add_piece(116, 2 * PAGE + 500, HEAP_FREE);
	add_block(2 * PAGE + 500, 2 * PAGE + 600, RED);
	add_piece(2 * PAGE + 600, 2 * PAGE + 700, HEAP_FREE);
	add_block(2 * PAGE + 700, 2 * PAGE + 800, BLUE);
	add_piece(2 * PAGE + 800, 4 * PAGE, HEAP_FREE);
	set_resident(0, 3 * PAGE);
	const struct pins pins = found();

	CHECK_EQ(pins.group[BLUE].pinned, (PAGE - 200) / 2);
	CHECK_EQ(pins.group[RED].pinned, PAGE - 116 + (PAGE - 200) / 2);
	CHECK_EQ(pins.group[RED].goes_back, PAGE);
	CHECK_EQ(pins.group[BLUE].goes_back, 0);
	CHECK_EQ(pins.free - pins.pinned, PAGE);
}

UNIT_TEST(a_large_block_pins_its_ends)
{
	add_unit(0, 8 * PAGE, false);
	add_piece(0, PAGE + 100, HEAP_FREE);
	add_block(PAGE + 100, 6 * PAGE + 100, RED);
	add_piece(6 * PAGE + 100, 8 * PAGE, HEAP_FREE);
	set_resident(0, 8 * PAGE);
	const struct pins pins = found();

	CHECK_EQ(pins.group[RED].pinned, 100 + PAGE - 100);
	CHECK_EQ(pins.group[RED].goes_back, 6 * PAGE);
}

/* The head of the free memory that follows lies in the next page. */
UNIT_TEST(heads_of_free_memory_stay)
{
	add_unit(0, 4 * PAGE, false);
	add_block(16, PAGE - 8, RED);
	add_piece(PAGE - 8, 3 * PAGE + 10, HEAP_FREE);
	add_block(3 * PAGE + 10, 4 * PAGE, BLUE); /* its head is in the page before */
	set_resident(0, 4 * PAGE);
	const struct pins pins = found();

	CHECK_EQ(pins.group[RED].pinned, 8 + PAGE);
	CHECK_EQ(pins.group[RED].goes_back, 2 * PAGE);
	CHECK_EQ(pins.group[BLUE].pinned, PAGE + 10);
	CHECK_EQ(pins.group[BLUE].goes_back, 2 * PAGE);
}

UNIT_TEST(what_the_allocator_has_keeps_a_page)
{
	add_unit(0, 2 * PAGE, false);
	add_piece(0, 500, HEAP_METADATA);
	add_block(516, 700, RED);
	add_piece(700, PAGE + 1000, HEAP_FREE);
	add_piece(PAGE + 1000, PAGE + 2000, HEAP_UNSURE);
	add_piece(PAGE + 2000, 2 * PAGE, HEAP_FREE);
	set_resident(0, 2 * PAGE);
	const struct pins pins = found();

	CHECK_EQ(pins.group[RED].pinned, PAGE - 700);
	CHECK_EQ(pins.group[RED].goes_back, 0);
	CHECK_EQ(pins.pinned_by_others, PAGE - 1000);
}

/* As glibc's arenas but the first: what small blocks leave at the end stays. */
UNIT_TEST(the_end_stays)
{
	add_unit(0, 8 * PAGE, false);
	units.unit[0].end_stays_bytes = 120;
	add_block(16, 116, RED);
	add_piece(116, PAGE + 16, HEAP_FREE);
	add_block(PAGE + 16, PAGE + 116, BLUE);
	add_piece(PAGE + 116, 2 * PAGE + 16, HEAP_FREE);
	add_block(2 * PAGE + 16, 2 * PAGE + 116, RED);
	add_piece(2 * PAGE + 116, 4 * PAGE + 16, HEAP_FREE);
	add_block(4 * PAGE + 16, 4 * PAGE + 216, RED); /* a large one */
	add_piece(4 * PAGE + 216, 5 * PAGE + 16, HEAP_FREE);
	add_block(5 * PAGE + 16, 5 * PAGE + 116, RED);
	add_piece(5 * PAGE + 116, 8 * PAGE, HEAP_FREE);
	set_resident(0, 8 * PAGE);
	const struct pins pins = found();

	CHECK_EQ(pins.group[RED].goes_back, 2 * PAGE);
	CHECK_EQ(pins.group[BLUE].goes_back, PAGE);
}

/* Memory in no unit does not go back, and two units are not mixed up. */
UNIT_TEST(what_is_in_no_unit)
{
	add_block(0, 100, RED);
	add_piece(100, PAGE, HEAP_FREE);
	add_unit(2 * PAGE, 3 * PAGE, false);
	add_block(2 * PAGE + 16, 2 * PAGE + 100, BLUE);
	add_piece(2 * PAGE + 100, 3 * PAGE, HEAP_FREE);
	set_resident(0, 4 * PAGE);
	const struct pins pins = found();

	CHECK_EQ(pins.group[RED].pinned, 0);
	CHECK_EQ(pins.group[BLUE].pinned, PAGE - 100);
	CHECK_EQ(pins.group[BLUE].goes_back, PAGE);
}

UNIT_MAIN()
