/* SPDX-License-Identifier: MIT */
/*
 * borrow.c - the choice of a thread.
 *
 * A bare stop is visible to some system calls (they fail with EINTR) and impossible in others (a
 * vfork parent), so the system call that a thread is in decides. What is seen here may be out of
 * date at the stop: every wait has its deadline, and the rewind (arch.h) handles the rest.
 */
#include "borrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hi_page.h"

/* A thread that sleeps on comes before all others that could be taken. */
#define STILL_BONUS 100
#define STILL_SCORE_MIN 3 /* threads in calls that can be broken off unnoticed */
#define STILL_NS 4000000

struct candidate {
	pid_t tid;
	int score;
	uint64_t switches;
};

static int better_first(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->score != b->score)
		return b->score - a->score;
	return a->tid < b->tid ? 1 : -1; /* the main thread last: it is the likeliest event loop */
}

bool borrow_is_transferring(pid_t pid, pid_t tid)
{
	struct proc_syscall call;

	return proc_syscall_read(pid, tid, &call) == 0 && !call.running &&
	       arch_is_transfer(call.number, call.argument);
}

static int thread_score(pid_t pid, pid_t tid)
{
	struct proc_syscall call;

	if (proc_syscall_read(pid, tid, &call))
		return -1;
	if (call.running)
		return arch_borrow_score(-1);
	if (call.sp == 0 && call.pc == 0) /* io_uring and vhost workers: they have no user mode */
		return -1;
	return arch_is_transfer(call.number, call.argument) ? 0 : arch_borrow_score(call.number);
}

static uint64_t switches_of(pid_t pid, pid_t tid)
{
	struct proc_status status;

	return proc_status_read(pid, tid, &status) == 0 ? status.switches : 0;
}

/*
 * Holding a thread that sleeps anyway delays nothing. The others are busy, even those in a short
 * nap, and their work waits for as long as they are held.
 */
static void prefer_still(pid_t pid, struct candidate *candidate, size_t count)
{
	const struct timespec look = {.tv_nsec = STILL_NS};

	for (size_t i = 0; i < count; i++)
		if (candidate[i].score >= STILL_SCORE_MIN)
			candidate[i].switches = switches_of(pid, candidate[i].tid);
	nanosleep(&look, NULL);
	for (size_t i = 0; i < count; i++) {
		struct candidate *one = &candidate[i];
		struct proc_syscall call;

		if (one->switches && switches_of(pid, one->tid) == one->switches &&
		    proc_syscall_read(pid, one->tid, &call) == 0 && !call.running)
			one->score += STILL_BONUS;
	}
}

int borrow_candidates(pid_t pid, bool want_still, pid_t **out_tids, size_t *out_count)
{
	struct candidate *candidate;
	pid_t *tids;
	size_t count, kept = 0;
	int err = proc_tasks(pid, &tids, &count);

	if (err)
		return err;
	candidate = calloc(count + 1, sizeof(*candidate));
	if (!candidate) {
		free(tids);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		int score = thread_score(pid, tids[i]);

		if (score >= 0)
			candidate[kept++] = (struct candidate){.tid = tids[i], .score = score};
	}
	if (want_still && kept > 1)
		prefer_still(pid, candidate, kept);
	qsort(candidate, kept, sizeof(*candidate), better_first);
	for (size_t i = 0; i < kept; i++)
		tids[i] = candidate[i].tid;
	free(candidate);
	*out_tids = tids;
	*out_count = kept;
	return 0;
}

int borrow_check(pid_t pid, pid_t tid)
{
	struct proc_status status;
	int err = proc_status_read(pid, tid, &status);

	if (err)
		return err;
	if (status.shadow_stack)
		return -ENOTSUP;
	if (strchr("RST", status.state) == NULL || strncmp(status.comm, "iou-", 4) == 0)
		return -EAGAIN;
	return 0;
}

int borrow_check_stack(const struct maps *maps, const struct arch_regs *regs, remote_addr lowest)
{
	const struct mapping *mapping = maps_find(maps, arch_sp(regs));
	remote_addr thread = arch_thread_pointer(regs);

	if (!mapping || !mapping->readable || !mapping->writable)
		return -EAGAIN;
	/* grows by itself, when it is written below its end */
	if (strcmp(mapping->path, "[stack]") == 0)
		return 0;
	if (thread < arch_sp(regs) || thread >= mapping->hi)
		return -EAGAIN;
	/* Not in the lowest page either: it may be a guard page. */
	return lowest >= mapping->lo + hi_page_bytes() && lowest < mapping->hi ? 0 : -EAGAIN;
}
