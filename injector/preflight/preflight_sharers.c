/* SPDX-License-Identifier: MIT */
/*
 * preflight_sharers.c - can the injector examine every thread that runs in the process's memory,
 * including threads of other processes?
 *
 * Only then detach may unmap the memory in which they could be. Children of vfork are skipped: they
 * exist only for a moment, or they block a thread of the process itself, which has a check of its
 * own.
 *
 * Enter at check_sharers.
 */
#include "preflight_checks.h"

#include <errno.h>
#include <stdio.h>

#include "freezer.h"
#include "memory_sharers.h"

static int refuse_traced(struct subject *subject, pid_t pid, pid_t tracer)
{
	char comm[16], name[16], remedy[64];

	comm_of(pid, comm);
	comm_of(tracer, name);
	snprintf(remedy, sizeof(remedy), "stop %s (pid %d) first", name, tracer);
	return refuse(subject, PREFLIGHT_MEMORY_SHARED, remedy,
		      "process %d (%s) shares its memory, and is being traced by %d (%s)", pid,
		      comm, tracer, name);
}

static int refuse_unknown(struct subject *subject, pid_t pid, const char *may)
{
	char comm[16];

	comm_of(pid, comm);
	return refuse(subject, PREFLIGHT_MEMORY_SHARED, more_rights(&subject->ours),
		      "process %d (%s) %s its memory, and you may not trace it: detach has to look "
		      "at every thread that runs there",
		      pid, comm, may);
}

static int check_thread(struct subject *subject, const struct memory_thread *thread)
{
	struct proc_status status;
	struct memory memory;
	int err = proc_status_read(thread->pid, thread->tid, &status);

	if (!err && status.tracer)
		return refuse_traced(subject, thread->pid, status.tracer);
	if (!err)
		err = memory_open(&memory, thread->pid, thread->tid);
	if (err == -EACCES || err == -EPERM)
		return refuse_unknown(subject, thread->pid, "shares");
	if (!err)
		memory_close(&memory);
	return err == -ESRCH ? 0 : err; /* that thread has just ended */
}

static int check_frozen_sharer(struct subject *subject, pid_t pid)
{
	char comm[16], remedy[sizeof(subject->out->remedy)];

	if (!freezer_is_frozen(pid, remedy, sizeof(remedy)))
		return 0;
	comm_of(pid, comm);
	return refuse(subject, PREFLIGHT_MEMORY_SHARED, remedy,
		      "process %d (%s) shares its memory, and its control group is frozen", pid,
		      comm);
}

int check_sharers(struct subject *subject)
{
	const pid_t pid = subject->out->pid;
	struct memory_threads threads;
	int answer = memory_threads_list(pid, &threads);

	if (answer == -ESRCH)
		return refuse(subject, PREFLIGHT_NO_PROCESS, "nothing is left to profile",
			      "it has just exited");
	if (answer)
		return answer;
	if (threads.unknown)
		answer = refuse_unknown(subject, threads.unknown, "may share");
	for (size_t i = 0; i < threads.count && !answer; i++) {
		const struct memory_thread *thread = &threads.thread[i];

		if (thread->pid == pid || thread->is_awaited)
			continue;
		answer = check_thread(subject, thread);
		if (!answer && thread->pid == thread->tid)
			answer = check_frozen_sharer(subject, thread->pid);
	}
	memory_threads_close(&threads);
	return answer;
}
