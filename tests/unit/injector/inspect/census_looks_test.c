/* SPDX-License-Identifier: MIT */
/* census_looks: how many looks are taken, and what groups had in each. */
#include "census_looks.h"

#include "unit.h"

#define MS 1000000ull

UNIT_TEST(as_many_looks_as_cost_a_quarter_of_the_time)
{
	CHECK_EQ(census_looks_wanted(10000 * MS, 0), CENSUS_LOOKS_MAX);
	CHECK_EQ(census_looks_wanted(10000 * MS, 125 * MS), 20);
	CHECK_EQ(census_looks_wanted(10000 * MS, 250 * MS), 10);
	CHECK_EQ(census_looks_wanted(10000 * MS, 416 * MS), CENSUS_LOOKS_MIN);
}

UNIT_TEST(an_interval_is_worth_all_of_the_time)
{
	CHECK_EQ(census_looks_wanted(10000 * MS, 420 * MS), CENSUS_LOOKS_MIN);
	CHECK_EQ(census_looks_wanted(10000 * MS, 1666 * MS), CENSUS_LOOKS_MIN);
	CHECK_EQ(census_looks_wanted(10000 * MS, 1667 * MS), 2);
	CHECK_EQ(census_looks_wanted(MS, 60000 * MS), 2);
}

static const struct census_group red = {.kind = CONTENT_OBJECT, .type = 1};
static const struct census_group blue = {.kind = CONTENT_OTHER, .size = 64};
static const struct census_group other = {.kind = CONTENT_OTHER, .size = 65};

static void add(struct census *census, const struct census_group *group, uint64_t count)
{
	uint32_t index;

	CHECK_EQ(census_intern(census, group, &index), 0);
	census->group[index].count += count;
	census->group[index].bytes += 100 * count;
}

/* A look with so many blocks of each; 0: there is no such group. */
static void look(struct census_looks *looks, uint64_t reds, uint64_t blues, uint64_t at_ns)
{
	struct census census = {0};

	if (blues)
		add(&census, &blue, blues);
	if (reds)
		add(&census, &red, reds);
	CHECK_EQ(census_looks_add(looks, &census, at_ns), 0);
	census_close(&census);
}

UNIT_TEST(groups_come_and_go)
{
	struct census_looks looks = {0};
	struct census_amount amount[CENSUS_LOOKS_MAX];

	look(&looks, 7, 0, 10);
	look(&looks, 9, 3, 20);
	look(&looks, 0, 4, 30);
	CHECK_EQ(looks.count, 3);
	CHECK_EQ(looks.look[2].at_ns, 30);
	CHECK(census_looks_of(&looks, &red, amount));
	CHECK(amount[0].blocks == 7 && amount[1].blocks == 9 && amount[2].blocks == 0);
	CHECK_EQ(amount[1].bytes, 900);
	CHECK(census_looks_of(&looks, &blue, amount));
	CHECK(amount[0].blocks == 0 && amount[1].blocks == 3 && amount[2].blocks == 4);
	CHECK(!census_looks_of(&looks, &other, amount));
	census_looks_close(&looks);
}

UNIT_MAIN()
