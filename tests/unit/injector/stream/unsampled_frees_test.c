/* SPDX-License-Identifier: MIT */
/* unsampled_frees_test.c - what the payload counted of the frees. */
#include "unit.h"

#include "unsampled_frees.h"

#define HOMES 1024u

static struct hi_unsampled_frees counted;
static struct unsampled_frees frees;

static uint64_t take(void)
{
	return unsampled_frees_take(&frees, &counted, HOMES);
}

static void count(uint32_t size_class, uint64_t seen, uint64_t more, uint64_t bytes)
{
	counted.seen[size_class] += seen;
	counted.count[size_class] += more;
	counted.bytes[size_class] += bytes;
}

UNIT_TEST(counts_are_taken_as_they_are)
{
	counted.sentinels = HOMES / 4;
	CHECK_EQ(take(), 0);
	count(3, 10, 40, 1920);
	CHECK_EQ(take(), 10);
	count(3, 5, 20, 960);
	count(HI_SIZE_CLASSES - 1, 1, 4, 1ull << 40);
	CHECK_EQ(take(), 6);
	CHECK_EQ(take(), 0);
	CHECK(frees.share == 0.25);
	CHECK_EQ(frees.seen[3], 15);
	CHECK_EQ(frees.count[3], 60);
	CHECK_EQ(frees.bytes[3], 2880);
	CHECK_EQ(frees.bytes[HI_SIZE_CLASSES - 1], 1ull << 40);
}

/* Where the allocator is not asked, or nobody counts. */
UNIT_TEST(nothing_is_known_without_sentinels)
{
	take();
	CHECK(frees.share == 0);
	CHECK_EQ(unsampled_frees_take(&frees, &counted, 0), 0);
	CHECK(frees.share == 0);
}

UNIT_TEST(a_target_that_lies)
{
	struct hi_stream_frees list[HI_SIZE_CLASSES];

	counted.sentinels = UINT32_MAX;
	for (uint32_t i = 0; i < HI_SIZE_CLASSES; i++)
		count(i, UINT64_MAX, UINT64_MAX, UINT64_MAX);
	take();
	CHECK(frees.share == 1);
	CHECK_EQ(unsampled_frees_list(&frees, list), HI_SIZE_CLASSES);
	for (uint32_t i = 0; i < HI_SIZE_CLASSES; i++) {
		CHECK_EQ(list[i].seen, UINT32_MAX);
		CHECK(list[i].count == 1ull << 62 && list[i].bytes == 1ull << 62);
	}
}

UNIT_TEST(the_list_has_classes_in_order_and_none_that_is_empty)
{
	struct hi_stream_frees list[HI_SIZE_CLASSES];

	CHECK_EQ(unsampled_frees_list(&frees, list), 0);
	counted.sentinels = HOMES / 2;
	count(HI_SIZE_CLASSES - 1, 2, 4, 70);
	count(0, 1, 2, 6);
	count(9, 100, 200, 5000);
	take();
	CHECK_EQ(unsampled_frees_list(&frees, list), 3);
	CHECK_EQ(list[0].size_class, 0);
	CHECK_EQ(list[0].seen, 1);
	CHECK_EQ(list[0].count, 2);
	CHECK_EQ(list[0].bytes, 6);
	CHECK_EQ(list[1].size_class, 9);
	CHECK_EQ(list[1].count, 200);
	CHECK_EQ(list[2].size_class, HI_SIZE_CLASSES - 1);
	CHECK_EQ(list[2].seen, 2);
}

UNIT_MAIN()
