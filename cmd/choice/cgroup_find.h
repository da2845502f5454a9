/* SPDX-License-Identifier: MIT */
/* cgroup_find.h - cgroups and units of systemd by their names, and the processes in them. */
#ifndef HI_CGROUP_FIND_H
#define HI_CGROUP_FIND_H

#include <limits.h>

#include "processes_found.h"

/*
 * The directory of a cgroup that is named by its directory, or by its path as in /proc/PID/cgroup.
 * root: MEMORY_LIMIT_CGROUPS. -ENOENT: there is none now.
 */
must_check int cgroup_find(const char *root, const char *name, char out_path[PATH_MAX]);
/*
 * The same of a unit of systemd, "redis-server" or "redis-server.service", in whatever slice.
 * -EINVAL: no name of a unit.
 */
must_check int cgroup_find_unit(const char *root, const char *name, char out_path[PATH_MAX]);
/*
 * Adds the processes of that cgroup and of those below it, but none of heapinject. 0 or -ENOMEM.
 */
must_check int cgroup_processes(const char *path, struct processes_found *found);
/*
 * Of these processes the one with the largest resident memory, and how many others there are.
 * -ESRCH: there is none.
 */
must_check int cgroup_largest(const char *path, struct process_found *out_process,
			      unsigned *out_others);

#endif
