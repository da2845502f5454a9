/* SPDX-License-Identifier: MIT */
/* guard_choice.h - the process that `heapinject guard --cgroup` and `--unit` attach to. */
#ifndef HI_GUARD_CHOICE_H
#define HI_GUARD_CHOICE_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

#include "must_check.h"

struct guard_choice {
	pid_t pid;
	uint64_t start_time; /* with the pid it names one process (procfs.h) */
	uint64_t resident_bytes;
	char comm[16];
	unsigned others; /* processes besides it */
};

/*
 * The directory of a cgroup that is named by its directory, or by its path as in /proc/PID/cgroup.
 * root: MEMORY_LIMIT_CGROUPS. -ENOENT: there is none now.
 */
must_check int guard_find_cgroup(const char *root, const char *name, char out_path[PATH_MAX]);
/*
 * The same of a unit of systemd, "redis-server" or "redis-server.service", in whatever slice.
 * -EINVAL: no name of a unit.
 */
must_check int guard_find_unit(const char *root, const char *name, char out_path[PATH_MAX]);
/*
 * Of the processes of that cgroup and of those below it the one with the largest resident memory,
 * but none of heapinject. -ESRCH: there is no process.
 */
must_check int guard_choose(const char *path, struct guard_choice *out_choice);

#endif
