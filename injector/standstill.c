/* SPDX-License-Identifier: MIT */
/*
 * standstill.c - see standstill.h. Only a running thread can bear another: once a look at the list of threads finds none that is not held, there is none.
 */
#include "standstill.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "procfs.h"

static int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_held(const struct standstill *standstill, pid_t tid)
{
	for (size_t i = 0; i < standstill->count; i++)
		if (standstill->tracee[i].tid == tid)
			return true;
	return false;
}

/* Stops every listed thread that is not held yet. out_stopped: how many those were. */
static int stop_listed(struct standstill *standstill, pid_t pid, int64_t deadline_ns, size_t *out_stopped)
{
	pid_t *tids;
	size_t count, stopped = 0;
	int err = proc_tasks(pid, &tids, &count);
	if (err)
		return err;
	struct tracee *grown = realloc(standstill->tracee, (standstill->count + count) * sizeof *grown);
	if (grown)
		standstill->tracee = grown;
	else
		err = -ENOMEM;
	for (size_t i = 0; i < count && !err; i++) {
		if (is_held(standstill, tids[i]))
			continue;
		const int64_t left_ms = (deadline_ns - now_ns()) / 1000000;
		err = left_ms > 0 ? tracee_stop(&standstill->tracee[standstill->count], pid, tids[i], (int)left_ms) : -ETIMEDOUT;
		if (!err) {
			standstill->count++;
			stopped++;
		} else if (err == -ESRCH) { /* it has ended */
			err = 0;
		}
	}
	free(tids);
	*out_stopped = stopped;
	return err;
}

int standstill_begin(struct standstill *standstill, pid_t pid, int deadline_ms)
{
	*standstill = (struct standstill){.since_ns = now_ns()};
	const int64_t deadline_ns = standstill->since_ns + (int64_t)deadline_ms * 1000000;
	size_t stopped = 1;
	int err = 0;
	while (!err && stopped)
		err = stop_listed(standstill, pid, deadline_ns, &stopped);
	if (!err)
		return 0;
	uint64_t held_ns;
	(void)standstill_end(standstill, &held_ns);
	return err == -ETIMEDOUT || err == -EPERM ? -EAGAIN : err; /* EPERM: somebody else traces one of them just now */
}

int standstill_end(struct standstill *standstill, uint64_t *out_held_ns)
{
	int first = 0;
	for (size_t i = 0; i < standstill->count; i++) {
		const int err = tracee_detach(&standstill->tracee[i]);
		if (err && err != -ESRCH && !first)
			first = err;
	}
	*out_held_ns = (uint64_t)(now_ns() - standstill->since_ns);
	free(standstill->tracee);
	*standstill = (struct standstill){0};
	return first;
}
