/* SPDX-License-Identifier: MIT */
/* heap_history.c: which looks at the heap are kept. */
#include "heap_history.h"

#include "unit.h"

#define SECOND UINT64_C(1000000000)

static void add(struct heap_history *history, uint64_t time_ns)
{
	heap_history_add(history, &(struct heap_moment){.time_ns = time_ns, .used = time_ns + 1});
}

UNIT_TEST(the_first_and_the_last_look_stay)
{
	struct heap_history history = {0};
	const uint64_t last = 3000;

	for (uint64_t i = 0; i <= last; i++) {
		add(&history, 1 + i * SECOND);
		CHECK(history.count <= HEAP_MOMENTS_MAX);
		CHECK_EQ(history.moment[0].time_ns, 1);
		CHECK_EQ(history.moment[history.count - 1].time_ns, 1 + i * SECOND);
	}
	CHECK_EQ(history.moment[history.count - 1].used, 2 + last * SECOND);
	CHECK(history.count > HEAP_MOMENTS_MAX / 2 - 2);
	for (uint32_t i = 1; i + 1 < history.count; i++)
		CHECK(history.moment[i].time_ns - history.moment[i - 1].time_ns <=
		      2 * history.step_ns + SECOND);
}

UNIT_TEST(a_look_that_is_not_later_is_ignored)
{
	struct heap_history history = {0};

	add(&history, 7 * SECOND);
	add(&history, 7 * SECOND);
	add(&history, 2 * SECOND);
	CHECK_EQ(history.count, 1);
	CHECK_EQ(history.moment[0].time_ns, 7 * SECOND);
}

UNIT_TEST(names_and_refusals)
{
	struct heap_history history = {0};

	CHECK(!heap_history_is_refused(&history));
	CHECK_EQ(heap_history_name(&history, "glibc\0332.36", "it\ntakes too long"), 0);
	CHECK_STR(history.name, "glibc?2.36");
	CHECK_STR(history.refusal, "it?takes too long");
	CHECK(heap_history_is_refused(&history));
	CHECK_EQ(heap_history_name(&history, "", ""), 0);
	CHECK_STR(history.name, "glibc?2.36"); /* it stays what it was */
	CHECK(!heap_history_is_refused(&history));
	heap_history_close(&history);
	CHECK(!history.name);
}

/* Sums of hostile figures do not wrap. */
UNIT_TEST(little_may_be_unsure)
{
	const uint64_t mb = 1 << 20;
	const struct heap_moment sure = {.used = 95 * mb, .unsure = 5 * mb},
				 unsure = {.used = 50 * mb, .free = 40 * mb, .unsure = 10 * mb},
				 huge = {.used = UINT64_MAX, .free = UINT64_MAX, .unsure = mb},
				 small = {.used = mb / 10, .unsure = mb / 10};

	CHECK(heap_moment_is_sure(&small));
	CHECK(heap_moment_is_sure(&sure));
	CHECK(!heap_moment_is_sure(&unsure));
	CHECK(heap_moment_is_sure(&huge));
	CHECK(heap_moment_sum(&huge) > 3e19);
	CHECK(heap_moment_is_sure(&(struct heap_moment){0}));
}

UNIT_MAIN()
