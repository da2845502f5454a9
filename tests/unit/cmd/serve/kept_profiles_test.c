/* SPDX-License-Identifier: MIT */
/* kept_profiles_test.c - the newest profiles of a session stay, and each has a name of its own. */
#include "kept_profiles.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "unit.h"

static int new_profile(void)
{
	return memfd_create("profile", MFD_CLOEXEC);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

UNIT_TEST(the_newest_stay)
{
	struct kept_profiles kept = {0};
	int first = -1;

	for (unsigned i = 0; i < KEPT_PROFILES_MAX + 3; i++) {
		const int fd = new_profile();

		first = i ? first : fd;
		kept_profiles_add(&kept, 1000 + i, fd, 10);
		/* the next one may get its number */
		CHECK_EQ(is_open(first), i < KEPT_PROFILES_MAX || i > KEPT_PROFILES_MAX);
	}
	CHECK_EQ(kept.count, KEPT_PROFILES_MAX);
	CHECK_EQ(kept.bytes, 10 * KEPT_PROFILES_MAX);
	CHECK(!kept_profiles_find(&kept, 1002));
	CHECK(kept_profiles_find(&kept, 1003));
	CHECK_EQ(kept.profile[0].time, 1003);
	CHECK_EQ(kept_profiles_find(&kept, 1034)->fd, kept.profile[31].fd);
	kept_profiles_drop_all(&kept);
	CHECK_EQ(kept.count, 0);
	CHECK_EQ(kept.bytes, 0);
}

UNIT_TEST(names_rise_though_the_clock_does_not)
{
	struct kept_profiles kept = {0};

	kept_profiles_add(&kept, 1000, new_profile(), 1);
	kept_profiles_add(&kept, 1000, new_profile(), 2);
	kept_profiles_add(&kept, 500, new_profile(), 3);
	CHECK_EQ(kept_profiles_find(&kept, 1000)->bytes, 1);
	CHECK_EQ(kept_profiles_find(&kept, 1001)->bytes, 2);
	CHECK_EQ(kept_profiles_find(&kept, 1002)->bytes, 3);
	CHECK(!kept_profiles_find(&kept, 0));
	kept_profiles_drop_oldest(&kept);
	CHECK(!kept_profiles_find(&kept, 1000));
	CHECK_EQ(kept.bytes, 5);
	kept_profiles_drop_all(&kept);
}

UNIT_MAIN()
