/* SPDX-License-Identifier: MIT */
/* freezer: which group was frozen, in a made-up hierarchy, and how it is thawed. */
#include "freezer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unit.h"

static char root[] = "/tmp/freezer.XXXXXX";

static void put(const char *group, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s", root, group);
	CHECK(!mkdir(path, 0700) || errno == EEXIST);
	snprintf(path, sizeof(path), "%s%s/%s", root, group, file);
	FILE *out = fopen(path, "w");
	CHECK(out && fputs(text, out) >= 0 && !fclose(out));
}

static void remove_all(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", root);
	CHECK_EQ(system(command), 0);
}

/* Compares what is said with `want`, in which %s is the root; NULL = it is not frozen. */
static void check(const char *groups, const char *before, const char *after, size_t size)
{
	char remedy[512], want[512];

	CHECK_EQ(freezer_is_group_frozen(groups, root, remedy, size), before != NULL);
	if (!before)
		return;
	snprintf(want, sizeof(want), "%s%s%s", before, after ? root : "", after ? after : "");
	CHECK_STR(remedy, want);
}

UNIT_TEST(the_ancestor_that_was_frozen_is_named)
{
	const char *groups = "3:cpu:/other\n0::/a/b\n";

	CHECK(mkdtemp(root));
	put("/a", "cgroup.freeze", "0\n");
	put("/a/b", "cgroup.freeze", "0\n");
	put("/a/b", "cgroup.events", "populated 1\nfrozen 0\n");
	check(groups, NULL, NULL, 512);
	put("/a", "cgroup.freeze", "1\n");
	put("/a/b", "cgroup.events", "populated 1\nfrozen 1\n");
	check(groups, "thaw it first (docker unpause, or echo 0 >", "/a/cgroup.freeze)", 512);
	/* where the name does not fit */
	check(groups, "thaw it first (docker unpause, or cgroup.freeze = 0)", NULL, 60);
	remove_all();
}

UNIT_TEST(that_of_version_1_too)
{
	const char *groups = "7:freezer:/a\n0::/\n";

	CHECK(mkdtemp(root));
	put("/freezer", "freezer.state", "THAWED\n");
	put("/freezer/a", "freezer.state", "THAWED\n");
	put("/freezer/a", "freezer.self_freezing", "0\n");
	check(groups, NULL, NULL, 512);
	put("/freezer/a", "freezer.state", "FREEZING\n");
	put("/freezer/a", "freezer.self_freezing", "1\n");
	check(groups, "thaw it first (docker unpause, or echo THAWED >",
	      "/freezer/a/freezer.state)", 512);
	remove_all();
}

UNIT_MAIN()
