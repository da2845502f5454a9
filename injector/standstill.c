/* SPDX-License-Identifier: MIT */
/*
 * standstill.c - see standstill.h. Only a running thread can bear another: once a look at the list of threads finds none that is not held, there is none.
 */
#include "standstill.h"

#include <errno.h>
#include <stdlib.h>

#include "clock.h"
#include "procfs.h"

#define DO_DEADLINE_MS 300

static bool is_held(const struct standstill *standstill, pid_t tid)
{
	for (size_t i = 0; i < standstill->count; i++)
		if (standstill->tracee[i].tid == tid)
			return true;
	return false;
}

/* A call that is broken off by the stop, and by nothing else, is made again. */
static int restart_call(const struct tracee *tracee)
{
	struct arch_regs regs;
	const int err = tracee_get_regs(tracee, &regs);
	if (err || !arch_rewind_interrupted(&regs))
		return err;
	return tracee_set_regs(tracee, &regs);
}

/* Waits for the threads from number `first` on, all of which have been asked to stop; those that end meanwhile are dropped. */
static int wait_for(struct standstill *standstill, size_t first, uint64_t deadline_ns)
{
	for (size_t i = first; i < standstill->count;) {
		int err = tracee_has_stopped(&standstill->tracee[i]);
		if (!err)
			err = restart_call(&standstill->tracee[i]);
		if (!err) {
			i++;
		} else if (err == -ESRCH) {
			(void)tracee_detach(&standstill->tracee[i]);
			standstill->tracee[i] = standstill->tracee[--standstill->count];
		} else if (err != -EAGAIN) {
			return err;
		} else if (clock_now_ns() >= deadline_ns) {
			return -ETIMEDOUT;
		} else {
			tracee_nap();
		}
	}
	return 0;
}

/* Stops every listed thread that is not held yet. out_stopped: how many those were. */
static int stop_listed(struct standstill *standstill, pid_t pid, uint64_t deadline_ns, size_t *out_stopped)
{
	pid_t *tids;
	size_t count;
	const size_t held = standstill->count;
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
		err = tracee_interrupt(&standstill->tracee[standstill->count], pid, tids[i]);
		if (!err)
			standstill->count++;
		else if (err == -ESRCH) /* it has ended */
			err = 0;
	}
	free(tids);
	*out_stopped = standstill->count - held;
	return err ? err : wait_for(standstill, held, deadline_ns);
}

/* Those who did stop go on at once; the others are let go by the kernel when the tracing thread ends, which is soon. */
static void give_up(struct standstill *standstill)
{
	for (size_t i = 0; i < standstill->count; i++)
		if (standstill->tracee[i].state == TRACEE_STOPPED)
			(void)tracee_detach(&standstill->tracee[i]);
	for (size_t i = 0; i < standstill->count; i++)
		tracee_abandon(&standstill->tracee[i]);
	free(standstill->tracee);
	*standstill = (struct standstill){0};
}

int standstill_begin(struct standstill *standstill, pid_t pid, int deadline_ms)
{
	*standstill = (struct standstill){.since_ns = clock_now_ns()};
	const uint64_t deadline_ns = standstill->since_ns + (uint64_t)deadline_ms * 1000000;
	size_t stopped = 1;
	int err = 0;
	while (!err && stopped)
		err = stop_listed(standstill, pid, deadline_ns, &stopped);
	if (!err)
		return 0;
	give_up(standstill);
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
	*out_held_ns = clock_now_ns() - standstill->since_ns;
	free(standstill->tracee);
	*standstill = (struct standstill){0};
	return first;
}

struct errand {
	pid_t pid;
	int (*work)(void *);
	void *context;
	uint64_t held_ns;
};

static int run_errand(void *context)
{
	struct errand *errand = context;
	struct standstill standstill;
	int err = standstill_begin(&standstill, errand->pid, DO_DEADLINE_MS);
	if (err)
		return err;
	err = errand->work(errand->context);
	const int ended = standstill_end(&standstill, &errand->held_ns);
	return err ? err : ended;
}

int standstill_do(pid_t pid, int (*work)(void *), void *context, uint64_t *out_held_ns)
{
	struct errand errand = {.pid = pid, .work = work, .context = context};
	const int err = tracee_worker(run_errand, &errand);
	*out_held_ns = errand.held_ns;
	return err;
}
