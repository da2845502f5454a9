/* SPDX-License-Identifier: MIT */
/*
 * Room cmd/choice/: which processes are meant, from what a user says of them.
 *
 *   choice.h           by name, cgroup, unit of systemd, or TCP port: start here
 *   cgroup_find.h      cgroups by their name, and the processes in them
 *   port_find.h        who listens on a TCP port
 *   choice_print.h     what was found, for a user who has to choose
 *   processes_found.h  what all of them give
 *
 * Looks at /proc and touches no process. Uses injector/target/.
 */

/* processes_found.h - a list of processes, with what tells them apart. */
#ifndef HI_PROCESSES_FOUND_H
#define HI_PROCESSES_FOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "must_check.h"

struct process_found {
	pid_t pid;
	uint64_t start_ticks; /* with the pid it is one process (procfs.h) */
	uint64_t resident_bytes;
	uid_t uid;
	char comm[16]; /* terminated; may contain anything */
};

/* Zero-initialized = none. */
struct processes_found {
	struct process_found *process;
	size_t count, room;
};

/* -ESRCH: it has gone, or has no memory, as those of the kernel, or is this process. */
must_check int process_found_read(pid_t pid, struct process_found *out_process);
/* Whether the same process is still there. */
bool process_found_is_there(const struct process_found *process);
/* Reads the process and adds it; one that cannot be read is left out. 0 or -ENOMEM. */
must_check int processes_found_add(struct processes_found *found, pid_t pid);
/*
 * Of processes that share one memory, as a child of vfork does before it executes a program, the
 * one that comes first stays: what is done to it is done to all. Forked processes do not share it.
 */
void processes_found_drop_sharers(struct processes_found *found);
void processes_found_close(struct processes_found *found);

#endif
