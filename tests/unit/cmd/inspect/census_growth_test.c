/* SPDX-License-Identifier: MIT */
/* census_growth: which groups are said to grow, by looks that are made by hand. */
#include "census_growth.h"

#include <math.h>

#include "unit.h"

#define SECOND_NS 1000000000ull
#define GROUPS_MAX 400u

/* What a group of that size has in each look. */
typedef uint64_t blocks_in(unsigned look);

static uint64_t growing(unsigned look)
{
	return 1000 + 200 * look + look % 2;
}

static uint64_t growing_slowly(unsigned look)
{
	return 100000 + look;
}

static uint64_t shrinking(unsigned look)
{
	return 5000 - 50 * look;
}

static uint64_t bounded(unsigned look)
{
	static const uint64_t blocks[] = {900, 300, 700, 500};

	return blocks[look % 4];
}

static uint64_t still(unsigned look)
{
	(void)look;
	return 1 << 20;
}

/* Rises by chance more often than it falls, as one of many may. */
static uint64_t drifting(unsigned look)
{
	static const uint64_t blocks[] = {5, 3, 6, 7, 4, 8, 7, 9, 8, 10};

	return blocks[look % 10];
}

static void count(struct census *census, blocks_in *const *blocks, size_t groups, unsigned look)
{
	for (size_t i = 0; i < groups; i++) {
		struct census_group group = {.kind = CONTENT_OTHER, .size = 8 * (i + 1)};
		uint32_t index;

		group.count = blocks[i](look);
		group.bytes = group.size * group.count;
		if (group.count)
			CHECK_EQ(census_intern(census, &group, &index), 0);
	}
}

/* The rows of these groups after so many looks, a second apart. */
static struct census_growth growth_of(blocks_in *const *blocks, size_t groups, unsigned count_of)
{
	static struct census now;
	struct census_looks looks = {0};
	struct census_growth growth;

	for (unsigned look = 0; look < count_of; look++) {
		census_close(&now);
		count(&now, blocks, groups, look);
		CHECK_EQ(census_looks_add(&looks, &now, look * SECOND_NS), 0);
	}
	CHECK_EQ(census_growth_find(&now, &looks, &growth), 0);
	CHECK_EQ(growth.count, now.count);
	census_looks_close(&looks);
	return growth;
}

static bool is_near(double value, double want)
{
	return fabs(value - want) < 0.01 * fabs(want);
}

UNIT_TEST(what_grows_comes_first_with_its_interval)
{
	blocks_in *const blocks[] = {still, bounded, shrinking, growing_slowly, growing};
	struct census_growth growth = growth_of(blocks, 5, 12);
	static const struct {
		enum census_verdict verdict;
		uint64_t size;
	} want[] = {{CENSUS_GROWS, 40},
		    {CENSUS_GROWS, 32},
		    {CENSUS_SHRINKS, 24},
		    {CENSUS_STEADY, 8},
		    {CENSUS_STEADY, 16}};

	for (size_t i = 0; i < 5; i++) {
		CHECK_EQ(growth.row[i].verdict, want[i].verdict);
		CHECK_EQ(growth.row[i].group->size, want[i].size);
	}
	const struct census_row *first = &growth.row[0], *bound = &growth.row[4];
	CHECK(is_near(first->blocks.value, 200) && is_near(first->bytes.value, 8000));
	CHECK(first->bytes.low > 7900 && first->bytes.low <= first->bytes.value);
	CHECK(first->bytes.high < 8100 && first->bytes.high >= first->bytes.value);
	CHECK(growth.row[2].bytes.high < 0);
	CHECK(bound->bytes.low <= 0 && bound->bytes.high >= 0 && bound->has_changed);
	CHECK(!growth.row[3].has_changed);
	CHECK(growth.seconds == 11 && growth.looks == 12);
	census_growth_close(&growth);
}

/* It rises in each look, and ever faster: neighbours depend on each other, steps all go up. */
static uint64_t accelerating(unsigned look)
{
	return 1000 + look * look * 10;
}

static uint64_t decelerating(unsigned look)
{
	return 9000 - (look < 9 ? look * look * 100 : 8100);
}

/* Half of it up, half of it down: what depends on each other is no growth. */
static uint64_t up_and_down(unsigned look)
{
	return 1000 + 10 * (look < 10 ? look : 20 - look);
}

UNIT_TEST(steps_that_depend_on_each_other)
{
	blocks_in *const blocks[] = {accelerating, decelerating, up_and_down, bounded, growing};
	struct census_growth growth = growth_of(blocks, 5, 20);

	CHECK_EQ(growth.row[0].verdict, CENSUS_GROWS);
	CHECK_EQ(growth.row[1].verdict, CENSUS_GROWS);
	for (size_t i = 0; i < growth.count; i++) {
		const struct census_row *row = &growth.row[i];

		if (row->group->size == 16)
			CHECK(row->verdict == CENSUS_SHRINKS ||
			      row->verdict == CENSUS_PROBABLY_SHRINKS ||
			      row->verdict == CENSUS_CANNOT_TELL);
		if (row->group->size == 24)
			CHECK(row->verdict == CENSUS_STEADY || row->verdict == CENSUS_CANNOT_TELL);
	}
	census_growth_close(&growth);
}

UNIT_TEST(five_looks_are_too_few)
{
	blocks_in *const blocks[] = {still, shrinking, growing};
	struct census_growth growth = growth_of(blocks, 3, 5);

	CHECK_EQ(growth.row[0].verdict, CENSUS_TOO_FEW);
	CHECK_EQ(growth.row[0].group->size, 24);
	CHECK(is_near(growth.row[0].blocks.value, 200));
	CHECK(isinf(growth.row[0].blocks.low) && isinf(growth.row[0].bytes.high));
	CHECK_EQ(growth.row[1].verdict, CENSUS_TOO_FEW);
	CHECK_EQ(growth.row[2].verdict, CENSUS_STEADY);
	census_growth_close(&growth);
	growth = growth_of(blocks, 3, 6);
	CHECK_EQ(growth.row[0].verdict, CENSUS_GROWS);
	census_growth_close(&growth);
}

UNIT_TEST(one_look_has_rows_by_size)
{
	blocks_in *const blocks[] = {growing, still, bounded};
	struct census census = {0};
	const struct census_looks none = {0};
	struct census_growth growth;

	count(&census, blocks, 3, 0);
	CHECK_EQ(census_growth_find(&census, &none, &growth), 0);
	CHECK_EQ(growth.row[0].group->size, 16);
	CHECK_EQ(growth.row[1].group->size, 24);
	CHECK(!growth.looks && growth.seconds == 0);
	census_growth_close(&growth);
	census_close(&census);
}

/* Of hundreds of groups that change, some rise by chance. */
UNIT_TEST(one_of_many_needs_more_than_one_of_few)
{
	blocks_in *blocks[GROUPS_MAX];
	struct census_growth growth;

	for (size_t i = 0; i < GROUPS_MAX; i++)
		blocks[i] = i ? bounded : drifting;
	growth = growth_of(blocks, 2, 10);
	CHECK_EQ(growth.row[0].verdict, CENSUS_GROWS);
	CHECK_EQ(growth.row[0].group->size, 8);
	CHECK(growth.row[0].bytes.low > 0);
	census_growth_close(&growth);
	growth = growth_of(blocks, GROUPS_MAX, 10);
	CHECK_EQ(growth.row[0].verdict, CENSUS_PROBABLY_GROWS);
	CHECK_EQ(growth.row[0].group->size, 8);
	CHECK_EQ(growth.row[1].verdict, CENSUS_STEADY);
	census_growth_close(&growth);
}

UNIT_TEST(a_group_that_is_new_grows_from_nothing)
{
	blocks_in *const blocks[] = {growing};
	struct census_looks looks = {0};
	struct census now = {0};
	struct census_growth growth;

	for (unsigned look = 0; look < 10; look++) {
		census_close(&now);
		if (look > 2)
			count(&now, blocks, 1, look);
		CHECK_EQ(census_looks_add(&looks, &now, look * SECOND_NS), 0);
	}
	CHECK_EQ(census_growth_find(&now, &looks, &growth), 0);
	CHECK_EQ(growth.count, 1);
	CHECK(growth.row[0].has_changed && growth.row[0].blocks.value > 200);
	census_growth_close(&growth);
	census_looks_close(&looks);
	census_close(&now);
}

UNIT_MAIN()
