/* SPDX-License-Identifier: MIT */
/*
 * memory_limit.h - the limit of memory that a process reaches first: memory.max of its cgroup or of
 * one above it (cgroups v2 and v1), or its own limit of address space or data size.
 *
 * Only what can be seen from here counts: cgroups that are not below /sys/fs/cgroup are unknown.
 * None of this is thread-safe.
 */
#ifndef HI_MEMORY_LIMIT_H
#define HI_MEMORY_LIMIT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MEMORY_LIMIT_CGROUPS "/sys/fs/cgroup"

/* limit: in bytes, 0 = there is none; used: what counts towards it. */
struct memory_limit {
	uint64_t limit, used;
};

/* The limit with the least room left. */
struct memory_limit memory_limit_of(pid_t pid, pid_t tid);
/*
 * What the resident memory of a process may be at most: the nearest limit of its cgroups, or the
 * memory of the machine. 0 = not known.
 */
uint64_t memory_limit_resident(pid_t pid, pid_t tid);
/*
 * The memory cgroup of a process, and the one, it or one above it, whose limit has the least room
 * left. Where a cgroup has no memory.max, memory.high counts as its limit.
 */
struct memory_cgroup {
	bool is_v1;
	char own[PATH_MAX];  /* its directory; "" = it cannot be seen */
	char path[PATH_MAX]; /* that of the limit; "" = there is none */
	struct memory_limit nearest;
};
/* root, text: as below. */
void memory_limit_find_cgroup(const char *root, const char *text, struct memory_cgroup *out_cgroup);
/*
 * The parts of it. Each replaces *nearest by a limit with less room left, if there is one.
 *
 * root: where cgroups are, MEMORY_LIMIT_CGROUPS; text: of /proc/PID/cgroup.
 */
void memory_limit_take_cgroups(const char *root, const char *text, struct memory_limit *nearest);
/* text: of /proc/PID/limits; space, data: address space and private writable mappings, in bytes. */
void memory_limit_take_own(const char *text, uint64_t space, uint64_t data,
			   struct memory_limit *nearest);

#endif
