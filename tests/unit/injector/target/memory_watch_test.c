/* SPDX-License-Identifier: MIT */
/* memory_watch: which files are read, of cgroups of both versions and of the machine. */
#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>

#include "made_files.h"
#include "memory_watch.h"

#define SECOND 1000000000ull
#define NONE UINT64_MAX

static struct memory_watch watch;
static struct memory_figures figures;

static void end(void)
{
	memory_watch_close(&watch);
	made_end();
}

static void check_path(const char *of, const char *below)
{
	char whole[PATH_MAX];

	snprintf(whole, sizeof(whole), "%s%s", made_root, below);
	CHECK_STR(of, whole);
}

UNIT_TEST(a_cgroup_that_cannot_be_seen)
{
	char text[PATH_MAX];

	made_begin();
	made_put("memory.stat", "anon 500\n");
	CHECK_EQ(memory_watch_open_cgroup(made_root, "0::/nowhere\n", &watch), 0);
	CHECK(watch.is_machine);
	CHECK(strstr(memory_watch_describe(&watch, text), "memory (its cgroup cannot be seen"));
	memory_watch_close(&watch);
	CHECK_EQ(memory_watch_open_cgroup(made_root, "0::/\n", &watch), 0);
	CHECK(watch.is_machine);
	CHECK(!strcmp(memory_watch_describe(&watch, text), "the machine's memory"));
	memory_watch_close(&watch);
	made_end();
}

UNIT_TEST(version_2)
{
	char text[PATH_MAX];

	made_begin();
	made_put("a/memory.max", "1000\n");
	made_put("a/memory.current", "900\n");
	made_put("a/memory.stat", "anon 500\nfile 400\ninactive_file 300\nactive_file 50\n");
	made_put("a/memory.events", "low 0\nhigh 3\nmax 4\noom 1\noom_kill 9\n");
	made_put("a/b/memory.max", "max\n");
	made_put("a/b/memory.current", "900\n");
	made_put("a/b/memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 2\n");
	CHECK_EQ(memory_watch_open_cgroup(made_root, "0::/a/b\n", &watch), 0);
	CHECK(!watch.is_machine && !watch.cgroup.is_v1);
	check_path(watch.cgroup.own, "/a/b");
	check_path(watch.cgroup.path, "/a");
	CHECK(strstr(memory_watch_describe(&watch, text), "memory.max of /tmp/made_files."));
	memory_watch_read(&watch, NONE, SECOND, &figures);
	CHECK_EQ(figures.limit, 1000);
	CHECK_EQ(figures.used, 550); /* without pages of files */
	CHECK_EQ(figures.stalls, 7);
	CHECK_EQ(memory_watch_kills(&watch), 0); /* two were killed before */
	made_put("a/memory.current", "990\n");
	made_put("a/memory.max", "1200\n");
	made_put("a/b/memory.events", "oom_kill 3\n");
	memory_watch_read(&watch, NONE, 2 * SECOND, &figures);
	CHECK_EQ(figures.limit, 1200);
	CHECK_EQ(figures.used, 640);
	CHECK_EQ(memory_watch_kills(&watch), 1);
	memory_watch_outlives(&watch);
	CHECK_EQ(memory_watch_kills(&watch), 1); /* it may be the one, and still end */
	memory_watch_outlives(&watch);
	CHECK_EQ(memory_watch_kills(&watch), 0);
	end();
}

UNIT_TEST(where_there_is_no_max_high_is_the_limit)
{
	char text[PATH_MAX];

	made_begin();
	made_put("memory.current", "100\n");
	made_put("a/memory.max", "max\n");
	made_put("a/memory.high", "800\n");
	made_put("a/memory.current", "100\n");
	CHECK_EQ(memory_watch_open_cgroup(made_root, "0::/a\n", &watch), 0);
	memory_watch_read(&watch, NONE, SECOND, &figures);
	CHECK_EQ(figures.limit, 800);
	CHECK(strstr(memory_watch_describe(&watch, text), "memory.high of"));
	CHECK_EQ(figures.used, 100);
	end();
}

/* In a namespace the topmost cgroup is the root of what is seen, and may have a limit. */
UNIT_TEST(the_root_of_a_namespace_counts)
{
	made_begin();
	made_put("memory.max", "1000\n");
	made_put("memory.current", "500\n");
	made_put("a/memory.max", "900\n");
	made_put("a/memory.current", "10\n");
	CHECK_EQ(memory_watch_open_cgroup(made_root, "0::/a\n", &watch), 0);
	check_path(watch.cgroup.path, "");
	memory_watch_close(&watch);
	CHECK_EQ(memory_watch_open_cgroup(made_root, "0::/\n", &watch), 0);
	check_path(watch.cgroup.path, "");
	check_path(watch.cgroup.own, "");
	end();
}

UNIT_TEST(version_1_beside_version_2)
{
	char text[PATH_MAX];

	made_begin();
	made_put("memory/x/memory.limit_in_bytes", "1000\n");
	made_put("memory/x/memory.usage_in_bytes", "800\n");
	made_put("memory/x/memory.stat", "inactive_file 1\ntotal_inactive_file 90\n"
					 "total_active_file 10\n");
	made_put("memory/x/memory.failcnt", "12\n");
	made_put("memory/x/y/memory.limit_in_bytes", "9223372036854771712\n");
	made_put("memory/x/y/memory.usage_in_bytes", "800\n");
	made_put("memory/x/y/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
	CHECK_EQ(memory_watch_open_cgroup(made_root, "9:cpu,memory:/x/y\n0::/\n", &watch), 0);
	CHECK(watch.cgroup.is_v1 && !watch.is_machine);
	check_path(watch.cgroup.path, "/memory/x");
	CHECK(strstr(memory_watch_describe(&watch, text), "memory.limit_in_bytes of"));
	memory_watch_read(&watch, NONE, SECOND, &figures);
	CHECK_EQ(figures.limit, 1000);
	CHECK_EQ(figures.used, 700);
	CHECK_EQ(figures.stalls, 12);
	made_put("memory/x/y/memory.oom_control", "under_oom 1\noom_kill 6\n");
	CHECK_EQ(memory_watch_kills(&watch), 1);
	end();
}

/* Reading the amount of file pages costs more, and is needed close to a threshold only. */
UNIT_TEST(pages_of_files_are_read_as_often_as_needed)
{
	made_begin();
	made_put("a/memory.max", "1000\n");
	made_put("a/memory.current", "500\n");
	made_put("a/memory.stat", "inactive_file 100\n");
	CHECK_EQ(memory_watch_open_cgroup(made_root, "0::/a\n", &watch), 0);
	memory_watch_read(&watch, 600, SECOND, &figures);
	CHECK_EQ(figures.used, 400);
	made_put("a/memory.stat", "inactive_file 200\n");
	memory_watch_read(&watch, 600, SECOND + 20000000, &figures);
	CHECK_EQ(figures.used, 400);
	memory_watch_read(&watch, 500, SECOND + 20000000, &figures);
	CHECK_EQ(figures.used, 300);
	end();
}

UNIT_TEST(without_a_limit_the_machine_is_watched)
{
	made_begin();
	made_put("a/memory.max", "max\n");
	made_put("a/memory.current", "500\n");
	CHECK_EQ(memory_watch_open_cgroup(made_root, "0::/a\n", &watch), 0);
	CHECK(watch.is_machine);
	memory_watch_read(&watch, NONE, SECOND, &figures);
	CHECK(figures.limit > 1 << 20 && figures.used && figures.used < figures.limit);
	memory_watch_close(&watch);
	CHECK_EQ(memory_watch_open_cgroup(made_root, "", &watch), 0);
	CHECK(watch.is_machine);
	end();
}

UNIT_TEST(a_descriptor_that_only_reports_errors_is_dropped)
{
	int ends[2];

	CHECK_EQ(pipe(ends), 0);
	watch = (struct memory_watch){
		.is_machine = true, .pressure_fd = ends[0], .threshold_fd = ends[1]};
	CHECK(memory_watch_woken(&watch, POLLPRI, 0));
	CHECK_EQ(watch.pressure_fd, ends[0]);
	CHECK(!memory_watch_woken(&watch, POLLERR, 0));
	CHECK_EQ(watch.pressure_fd, -1);
	CHECK_EQ(watch.threshold_fd, ends[1]);
	close(ends[1]);
}

UNIT_MAIN()
