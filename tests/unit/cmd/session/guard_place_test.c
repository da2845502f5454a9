/* SPDX-License-Identifier: MIT */
/* guard_place: which cgroups contain each other, and where to move to. */
#include "guard_place.h"

#include "unit.h"

UNIT_TEST(cgroups_contain_themselves_and_what_is_below)
{
	CHECK(guard_place_is_below("/sys/a", "/sys/a"));
	CHECK(guard_place_is_below("/sys/a/b", "/sys/a"));
	CHECK(!guard_place_is_below("/sys/ab", "/sys/a"));
	CHECK(!guard_place_is_below("/sys", "/sys/a"));
}

UNIT_TEST(the_way_out_ends_at_the_top)
{
	char path[PATH_MAX] = "/sys/fs/cgroup/memory/a/b";
	const char *const root = "/sys/fs/cgroup/memory";

	CHECK(guard_place_next(path, root));
	CHECK_STR(path, "/sys/fs/cgroup/memory/a");
	CHECK(guard_place_next(path, root));
	CHECK_STR(path, root);
	CHECK(!guard_place_next(path, root));
	CHECK_STR(path, root);
}

UNIT_MAIN()
