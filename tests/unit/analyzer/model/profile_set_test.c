/* SPDX-License-Identifier: MIT */
/* profile_set_test.c - profiles side by side: copies, and which of many are kept. */
#include "unit.h"

#include "profile_set.h"
#include "sample_profile.h"

static struct profile_set set_of(size_t total)
{
	struct profile_set set = {.total = total};

	for (size_t i = 0; i < total; i++) {
		struct profile profile = sample_open();
		char file[64];

		profile.meta.duration_ns = i;
		sample_stack(&profile, "main;serve", i + 1, 100);
		snprintf(file, sizeof(file), "%zu.heap", i);
		CHECK_EQ(profile_set_add(&set, &profile, file), 0);
		profile_close(&profile);
	}
	return set;
}

UNIT_TEST(copies)
{
	struct profile_set set = set_of(3);

	CHECK_EQ(set.count, 3);
	for (size_t i = 0; i < 3; i++) {
		CHECK_EQ(set.profile[i].meta.duration_ns, i);
		CHECK_EQ(set.profile[i].meta.pid, 1234);
		CHECK_EQ(set.profile[i].row_count, 1);
		CHECK_EQ(set.profile[i].row[0].inuse_count, i + 1);
	}
	CHECK_STR(set.file[2], "2.heap");
	profile_set_close(&set);
	CHECK_EQ(set.count, 0);
}

UNIT_TEST(some_of_many)
{
	for (size_t total = PROFILE_SET_MAX; total < 130; total += 7) {
		struct profile_set set = set_of(total);

		CHECK_EQ(set.count, PROFILE_SET_MAX);
		CHECK_EQ(set.profile[PROFILE_SET_MAX - 1].meta.duration_ns, total - 1);
		for (size_t i = 1; i < set.count; i++)
			CHECK(set.profile[i].meta.duration_ns >
			      set.profile[i - 1].meta.duration_ns);
		profile_set_close(&set);
	}
}

UNIT_MAIN()
