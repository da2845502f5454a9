/* SPDX-License-Identifier: MIT */
/* guard_place.c - see guard_place.h. Start at guard_place_settle(). */
#include "guard_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc_file.h"

#define SPARED "-1000"

bool guard_place_is_below(const char *path, const char *above)
{
	const size_t size = strlen(above);

	return !strncmp(path, above, size) && (!path[size] || path[size] == '/');
}

bool guard_place_next(char path[PATH_MAX], const char *root)
{
	char *slash = strrchr(path, '/');

	if (!slash || strlen(path) <= strlen(root))
		return false;
	*slash = 0;
	return strlen(path) >= strlen(root);
}

static int write_word(const char *path, const char *word)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;

	if (!err && write(fd, word, strlen(word)) < 0)
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

/*
 * Moves this process to the nearest cgroup above the limit that takes it. Of version 2, one that
 * has controllers for its children takes no process, but the root does.
 */
static int leave(const struct memory_watch *watch, char path[PATH_MAX])
{
	char root[64], procs[PATH_MAX], self[16];
	int err = -EBUSY;

	snprintf(root, sizeof(root), "%s%s", MEMORY_LIMIT_CGROUPS,
		 watch->cgroup.is_v1 ? "/memory" : "");
	snprintf(self, sizeof(self), "%d", (int)getpid());
	memcpy(path, watch->cgroup.path, PATH_MAX);
	while (err && guard_place_next(path, root))
		if (snprintf(procs, sizeof(procs), "%s/cgroup.procs", path) < PATH_MAX)
			err = write_word(procs, self);
	return err;
}

/* Asks the OOM killer to take others first. True: it never takes this process. */
static bool be_spared(void)
{
	return !write_word("/proc/self/oom_score_adj", SPARED);
}

static bool is_inside(const struct memory_watch *watch)
{
	static struct memory_cgroup own; /* large */
	char *text;

	if (proc_file_read(getpid(), 0, "cgroup", &text, NULL))
		return false;
	memory_limit_find_cgroup(MEMORY_LIMIT_CGROUPS, text, &own);
	free(text);
	return own.is_v1 == watch->cgroup.is_v1 &&
	       guard_place_is_below(own.own, watch->cgroup.path);
}

static bool settle_inside(const struct memory_watch *watch, bool verbose)
{
	static char path[PATH_MAX];
	const int err = leave(watch, path);

	if (!err) {
		if (verbose)
			fprintf(stderr,
				"heapinject: was in the limited cgroup itself, and has moved to "
				"%s\n",
				path);
		return true;
	}
	fprintf(stderr,
		"heapinject: is in the limited cgroup itself, and cannot leave it (%s): its own "
		"memory counts towards the limit%s; start it outside\n",
		strerror(-err),
		be_spared() ? "; the OOM killer has been asked to spare it"
			    : ", and it may be killed together with the process");
	return false;
}

bool guard_place_settle(const struct memory_watch *watch, bool verbose)
{
	if (watch->is_machine)
		(void)!be_spared();
	return watch->is_machine || !is_inside(watch) || settle_inside(watch, verbose);
}
