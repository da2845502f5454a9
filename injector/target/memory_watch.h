/* SPDX-License-Identifier: MIT */
/*
 * memory_watch.h - how much of its memory limit a process uses, read again and again: of the cgroup
 * whose limit it reaches first (memory_limit.h), of version 1 or 2, or of the machine if no cgroup
 * limits it.
 *
 * Used is what the kernel cannot simply drop: pages of files do not count, as they go before
 * anything is killed. The files stay open, so that reading costs microseconds and goes on when a
 * cgroup is removed. Nothing here waits, and nothing is written to the cgroup.
 */
#ifndef HI_MEMORY_WATCH_H
#define HI_MEMORY_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "memory_limit.h"
#include "must_check.h"

struct memory_watch {
	struct memory_cgroup cgroup;
	bool is_machine; /* no cgroup limits the process: the memory of the machine does */
	bool is_high;    /* the limit is memory.high */
	/*
	 * open files; -1 = none. stalls: how often the limit was reached; kills: of the OOM killer
	 */
	int usage_fd, limit_fd, stat_fd, stalls_fd, kills_fd;
	/* to poll, for POLLIN and POLLPRI; -1 = none */
	int threshold_fd; /* usage has crossed one that was armed */
	int pressure_fd;  /* processes wait for memory */
	uint64_t kills_before,
		kills_seen;             /* those it has outlived; all, as of the last such look */
	uint64_t files_bytes, files_ns; /* pages of files, as of then */
};

struct memory_figures {
	uint64_t limit, used; /* bytes; 0 = not known */
	uint64_t stalls;      /* counts up */
};

/* 0 or negative errno; -ENOENT: nothing can be watched. */
must_check int memory_watch_open(pid_t pid, pid_t tid, struct memory_watch *out_watch);
/* The same; root, text: as in memory_limit_find_cgroup(). */
must_check int memory_watch_open_cgroup(const char *root, const char *text,
					struct memory_watch *out_watch);
/* Wakes by threshold_fd when this usage is crossed, where the kernel can (version 1). */
void memory_watch_arm(struct memory_watch *watch, uint64_t bytes);
/* enough: below it, used may be a little out of date, so that it costs less. now_ns: monotonic. */
void memory_watch_read(struct memory_watch *watch, uint64_t enough, uint64_t now_ns,
		       struct memory_figures *out_figures);
/*
 * To be called if poll() has reported something for pressure_fd or threshold_fd. True: processes
 * wait for memory.
 */
bool memory_watch_woken(struct memory_watch *watch, short pressure_events, short threshold_events);
/*
 * To be called now and then while the process lives, and is not about to end by SIGKILL: it has
 * outlived the kills that were counted at the call before.
 */
void memory_watch_outlives(struct memory_watch *watch);
/*
 * How many processes of its cgroup (or the machine) the OOM killer has killed since open, without
 * those that this process has outlived.
 */
uint64_t memory_watch_kills(const struct memory_watch *watch);
/* "memory.max of /sys/fs/cgroup/a", "the machine": what the limit is of. Returns text. */
const char *memory_watch_describe(const struct memory_watch *watch, char text[PATH_MAX]);
void memory_watch_close(struct memory_watch *watch);

#endif
