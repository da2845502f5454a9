/* SPDX-License-Identifier: MIT */
/* unsampled_frees_test.c - counts of some of the frees become estimates of all. */
#include "unit.h"

#include <math.h>

#include "unsampled_frees.h"

#define HOMES 1024u

static struct hi_unsampled_frees counted;
static struct unsampled_frees frees;

static uint64_t take(void)
{
	return unsampled_frees_take(&frees, &counted, HOMES);
}

static void count(uint32_t size_class, uint64_t more, uint64_t bytes)
{
	counted.count[size_class] += more;
	counted.bytes[size_class] += bytes;
}

UNIT_TEST(all_frees_are_exact)
{
	counted.sentinels = HOMES;
	CHECK_EQ(take(), 0);
	count(3, 10, 480);
	CHECK_EQ(take(), 10);
	count(3, 5, 240);
	count(HI_SIZE_CLASSES - 1, 1, 1ull << 40);
	CHECK_EQ(take(), 6);
	CHECK_EQ(take(), 0); /* nothing counts twice */
	CHECK(frees.share == 1);
	CHECK_EQ(frees.seen[3], 15);
	CHECK(frees.count[3] == 15 && frees.bytes[3] == 720);
	CHECK(frees.bytes[HI_SIZE_CLASSES - 1] == 0x1p40);
}

/* Each count by the share of its own time. */
UNIT_TEST(a_share_of_the_frees_stands_for_all)
{
	counted.sentinels = HOMES / 4;
	take();
	count(3, 10, 480);
	CHECK_EQ(take(), 10);
	CHECK_EQ(frees.seen[3], 10);
	CHECK(frees.count[3] == 40 && frees.bytes[3] == 1920);
	CHECK(frees.share == 0.25);
}

/* Nobody knows when it fell: the geometric mean is off by no more than a factor of its root. */
UNIT_TEST(a_share_that_fell_meanwhile)
{
	counted.sentinels = HOMES;
	take();
	count(3, 10, 100);
	counted.sentinels = HOMES / 4;
	take();
	CHECK(frees.count[3] == 20 && frees.bytes[3] == 200);
	CHECK(frees.share == 0.25);
	count(3, 10, 100);
	take();
	CHECK(frees.count[3] == 60 && frees.bytes[3] == 600);
}

/* What was not looked at cannot be estimated, nor what nobody can count. */
UNIT_TEST(nothing_is_known_without_sentinels)
{
	count(3, 10, 480);
	CHECK_EQ(take(), 0);
	CHECK(frees.share == 0);
	CHECK_EQ(unsampled_frees_take(&frees, &counted, 0), 0);
	CHECK(frees.share == 0);
	CHECK_EQ(frees.seen[3], 0);
}

UNIT_TEST(a_target_that_lies)
{
	struct hi_stream_frees list[HI_SIZE_CLASSES];

	counted.sentinels = UINT32_MAX;
	take();
	CHECK(frees.share == 1);
	for (uint32_t i = 0; i < HI_SIZE_CLASSES; i++)
		count(i, UINT64_MAX, UINT64_MAX);
	take();
	counted.sentinels = 1;
	for (uint32_t i = 0; i < HI_SIZE_CLASSES; i++)
		count(i, UINT64_MAX, UINT64_MAX); /* runs backwards */
	take();
	take();
	CHECK_EQ(unsampled_frees_list(&frees, list), HI_SIZE_CLASSES);
	for (uint32_t i = 0; i < HI_SIZE_CLASSES; i++) {
		CHECK(isfinite(frees.count[i]) && isfinite(frees.bytes[i]));
		CHECK_EQ(list[i].seen, UINT32_MAX);
		CHECK(list[i].count == 1ull << 62 && list[i].bytes == 1ull << 62);
	}
}

UNIT_TEST(the_list_has_classes_in_order_and_none_that_is_empty)
{
	struct hi_stream_frees list[HI_SIZE_CLASSES];

	CHECK_EQ(unsampled_frees_list(&frees, list), 0);
	counted.sentinels = HOMES / 3; /* 341 of 1024 */
	take();
	count(HI_SIZE_CLASSES - 1, 2, 70);
	count(0, 1, 3);
	count(9, 100, 5000);
	take();
	CHECK_EQ(unsampled_frees_list(&frees, list), 3);
	CHECK_EQ(list[0].size_class, 0);
	CHECK_EQ(list[0].seen, 1);
	CHECK_EQ(list[0].count, 3);
	CHECK_EQ(list[0].bytes, 9);
	CHECK_EQ(list[1].size_class, 9);
	CHECK_EQ(list[1].count, 300);
	CHECK_EQ(list[1].bytes, 15015); /* 15014.7 */
	CHECK_EQ(list[2].size_class, HI_SIZE_CLASSES - 1);
	CHECK_EQ(list[2].seen, 2);
}

UNIT_MAIN()
