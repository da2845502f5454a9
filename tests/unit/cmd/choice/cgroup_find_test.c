/* SPDX-License-Identifier: MIT */
/* cgroup_find: cgroups and units by name, and the processes in them. */
#include "cgroup_find.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#include "made_files.h"
#include "unit.h"

static char path[PATH_MAX];

/* Makes a cgroup with these processes; 0 = none. */
static void put(const char *name, pid_t one, pid_t other)
{
	char file[PATH_MAX], text[64] = "";

	CHECK(snprintf(file, sizeof(file), "%s/cgroup.procs", name) < (int)sizeof(file));
	if (one)
		snprintf(text, sizeof(text), "%d\n", (int)one);
	if (other)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d\n", (int)other);
	made_put(file, text);
}

static bool is_at(const char *below)
{
	return !strncmp(path, made_root, strlen(made_root)) &&
	       !strcmp(path + strlen(made_root), below);
}

UNIT_TEST(cgroups_have_names)
{
	char whole[PATH_MAX];

	made_begin();
	put("memory/shop/web", 0, 0);
	put("db", 0, 0);
	CHECK_EQ(cgroup_find(made_root, "shop/web", path), 0);
	CHECK(is_at("/memory/shop/web"));
	CHECK_EQ(cgroup_find(made_root, "/db", path), 0);
	CHECK(is_at("/db"));
	snprintf(whole, sizeof(whole), "%s/memory/shop/web", made_root);
	CHECK_EQ(cgroup_find(made_root, whole, path), 0);
	CHECK_STR(path, whole);
	CHECK_EQ(cgroup_find(made_root, "shop", path), -ENOENT); /* has no cgroup.procs */
	snprintf(whole, sizeof(whole), "%s/shop/web", made_root);
	CHECK_EQ(cgroup_find(made_root, whole, path), 0);
	CHECK(is_at("/memory/shop/web"));
	/* all of them, where their directory is none (version 1) */
	put("unified", 0, 0);
	snprintf(whole, sizeof(whole), "%s/", made_root);
	CHECK_EQ(cgroup_find(made_root, whole, path), 0);
	CHECK(is_at("/unified/"));
	CHECK_EQ(cgroup_find(made_root, made_root, path), 0);
	CHECK(is_at("/unified/"));
	snprintf(whole, sizeof(whole), "%s-not/shop/web", made_root);
	CHECK_EQ(cgroup_find(made_root, whole, path), -ENOENT);
	CHECK_EQ(cgroup_find(made_root, "nowhere", path), -ENOENT);
	made_end();
}

UNIT_TEST(units_are_found_in_any_slice)
{
	made_begin();
	put("systemd", 0, 0);
	put("systemd/system.slice", 0, 0);
	put("systemd/system.slice/shop.service", 0, 0);
	put("systemd/system.slice/shop.timer", 0, 0);
	CHECK_EQ(cgroup_find_unit(made_root, "shop", path), 0);
	CHECK(is_at("/systemd/system.slice/shop.service"));
	CHECK_EQ(cgroup_find_unit(made_root, "shop.timer", path), 0);
	CHECK(is_at("/systemd/system.slice/shop.timer"));
	CHECK_EQ(cgroup_find_unit(made_root, "shop.scope", path), -ENOENT);
	CHECK_EQ(cgroup_find_unit(made_root, "system.slice/shop.service", path), -EINVAL);
	CHECK_EQ(cgroup_find_unit(made_root, "", path), -EINVAL);
	made_end();
}

/* A process that has so many bytes of resident memory more than this one. */
static pid_t start(size_t bytes)
{
	int ends[2];
	char byte;

	CHECK_EQ(pipe(ends), 0);
	const pid_t pid = fork();
	if (!pid) {
		char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(memory, 1, bytes);
		if (write(ends[1], "", 1) == 1)
			pause();
		_exit(0);
	}
	CHECK_EQ(read(ends[0], &byte, 1), 1);
	return pid;
}

UNIT_TEST(the_largest_process_is_chosen)
{
	struct process_found choice;
	unsigned others;
	const pid_t small = start(1 << 20), large = start(32 << 20), middle = start(8 << 20);

	made_begin();
	put("a", 0, 0);
	snprintf(path, sizeof(path), "%s/a", made_root);
	CHECK_EQ(cgroup_largest(path, &choice, &others), -ESRCH);
	put("a", getpid(), 0); /* never itself */
	CHECK_EQ(cgroup_largest(path, &choice, &others), -ESRCH);
	put("a", small, getpid());
	put("a/b/c", middle, large); /* a/b is no cgroup, and nevertheless looked into */
	CHECK_EQ(cgroup_largest(path, &choice, &others), 0);
	CHECK_EQ(choice.pid, large);
	CHECK_EQ(others, 2);
	CHECK(choice.start_ticks && choice.resident_bytes >= 32 << 20);
	kill(large, SIGKILL);
	CHECK_EQ(waitpid(large, NULL, 0), large);
	CHECK_EQ(cgroup_largest(path, &choice, &others), 0);
	CHECK_EQ(choice.pid, middle);
	kill(middle, SIGKILL);
	kill(small, SIGKILL);
	CHECK_EQ(waitpid(middle, NULL, 0), middle);
	CHECK_EQ(waitpid(small, NULL, 0), small);
	made_end();
}

UNIT_MAIN()
