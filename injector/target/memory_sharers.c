/* SPDX-License-Identifier: MIT */
/*
 * memory_sharers.c - see memory_sharers.h. The processes that were found are kept from one call to
 * the next; the threads are read anew each time. Enter at memory_threads_list.
 */
#include "memory_sharers.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "arch.h"
#include "clock.h"
#include "proc_file.h"
#include "same_memory.h"

/*
 * pids do not wrap around in that time: it would take 100,000 new processes or threads in a second
 */
#define FRESH_NS 250000000ull
#define NUMBERS_MIN 32768 /* smallest pid_max for which this holds */
#define BORN_MAX 1024     /* more new pids than that are not examined one by one */
/* pids that are assigned but not visible yet: the last ones before a scan are examined once more */
#define UNDER_WAY 32
#define TRIES 3
/* the pid last assigned to a process or a thread */
#define LAST_NUMBER "kernel/ns_last_pid"

struct pids {
	pid_t *pid;
	size_t count, room;
};

/*
 * What is known about the process of the last call. Processes that share its memory are examined at
 * each call; all others when the last full scan is too old, or once after they were created.
 */
static struct {
	struct same_memory_reference reference; /* pid 0: nothing is known */
	uint64_t start_time;
	uint64_t looked_ns;
	pid_t last; /* the pid last assigned before the scan; 0 = not known */
	struct pids sharers, unknown;
} found;
static pthread_mutex_t found_lock = PTHREAD_MUTEX_INITIALIZER;

static int push(struct pids *pids, pid_t pid)
{
	for (size_t i = 0; i < pids->count; i++)
		if (pids->pid[i] == pid)
			return 0;
	if (pids->count == pids->room) {
		const size_t room = pids->room ? pids->room * 2 : 16;
		pid_t *grown = reallocarray(pids->pid, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		pids->pid = grown;
		pids->room = room;
	}
	pids->pid[pids->count++] = pid;
	return 0;
}

/* ---- looking at processes -------------------------------------------------------------------- */

/* 0: the kernel does not show it, or pid_max is so small that pids may wrap around unnoticed. */
static pid_t last_number(void)
{
	return proc_sys_number("kernel/pid_max") >= NUMBERS_MIN
		       ? (pid_t)proc_sys_number(LAST_NUMBER)
		       : 0;
}

/*
 * Adds the process of pid if it shares the memory, or may share it. pid may be a thread's, a known
 * process's, or the target's own.
 */
static int take_in(pid_t pid)
{
	const struct same_memory_reference *reference = &found.reference;
	struct proc_status status;
	const enum same_memory same =
		pid == reference->pid ? SAME_MEMORY_NO : same_memory_ask(reference, pid);
	if (same == SAME_MEMORY_NO || proc_status_read(pid, pid, &status) ||
	    status.tgid == reference->pid)
		return 0;
	return push(same == SAME_MEMORY_YES ? &found.sharers : &found.unknown, status.tgid);
}

/*
 * -EAGAIN: the reference thread, with which others are compared, ended meanwhile; another thread
 * may have reused its tid.
 */
static int look_at_all(pid_t pid)
{
	DIR *proc = opendir(PROC_DIRECTORY);
	if (!proc)
		return -errno;
	int err = same_memory_open(pid, &found.reference);
	found.last = last_number();
	found.looked_ns = clock_now_ns();
	found.sharers.count = found.unknown.count = 0;
	if (!err)
		same_memory_boost(&found.reference);
	for (pid_t one; !err && (one = proc_next(proc));)
		err = take_in(one);
	same_memory_restore(&found.reference);
	closedir(proc);
	return err || same_memory_is_sound(&found.reference) ? err : -EAGAIN;
}

/*
 * Keeps the processes for which the answer is still `as`. Those that no longer share the memory
 * were usually children of vfork.
 */
static void look_again(struct pids *pids, enum same_memory as)
{
	size_t kept = 0;
	for (size_t i = 0; i < pids->count; i++)
		if (same_memory_ask(&found.reference, pids->pid[i]) == as)
			pids->pid[kept++] = pids->pid[i];
	pids->count = kept;
}

/*
 * Examines the processes created since the last full scan, and during it. -EAGAIN: there are too
 * many, or they cannot be determined.
 */
static int look_at_born(void)
{
	const pid_t last = found.last ? (pid_t)proc_sys_number(LAST_NUMBER) : 0;
	if (!last || last < found.last || last - found.last > BORN_MAX ||
	    clock_now_ns() - found.looked_ns > FRESH_NS)
		return -EAGAIN;
	look_again(&found.sharers, SAME_MEMORY_YES);
	look_again(&found.unknown, SAME_MEMORY_UNKNOWN);
	int err = 0;
	for (pid_t pid = found.last > UNDER_WAY ? found.last - UNDER_WAY : 1; pid <= last && !err;
	     pid++)
		err = take_in(pid);
	return err || same_memory_is_sound(&found.reference) ? err : -EAGAIN;
}

static int find_sharers(pid_t pid)
{
	uint64_t start_time;
	int err = proc_start_time(pid, &start_time);
	if (err)
		return err;
	const bool is_known = found.reference.pid == pid && found.start_time == start_time;
	err = is_known ? look_at_born() : -EAGAIN;
	for (unsigned tries = 0; tries < TRIES && err == -EAGAIN; tries++)
		err = look_at_all(pid);
	found.start_time = start_time;
	if (err)
		found.reference.pid = 0;
	return err == -EAGAIN ? -ESRCH : err;
}

/* ---- their threads --------------------------------------------------------------------------- */

/* Adds the threads of one process; a process that has exited since adds none. */
static int add_threads(struct memory_threads *threads, pid_t pid, bool is_awaited)
{
	pid_t *tids;
	size_t count;
	int err = proc_tasks(pid, &tids, &count);
	if (err)
		return err == -ESRCH && threads->count ? 0 : err;
	struct memory_thread *grown =
		reallocarray(threads->thread, threads->count + count, sizeof(*grown));
	if (grown)
		threads->thread = grown;
	else
		err = -ENOMEM;
	for (size_t i = 0; i < count && !err; i++)
		threads->thread[threads->count++] = (struct memory_thread){
			.pid = pid, .tid = tids[i], .is_awaited = is_awaited};
	free(tids);
	return err;
}

bool memory_thread_is_in_vfork(pid_t tid, const struct proc_syscall *call)
{
	uint64_t flags, at;
	if (!arch_is_clone(call->number, call->argument, &flags, &at))
		return false;
	const struct iovec into = {&flags, sizeof(flags)},
			   from = {(void *)(uintptr_t)at, sizeof(flags)};
	if (at && process_vm_readv(tid, &into, 1, &from, 1, 0) != sizeof(flags))
		return false;
	return flags & CLONE_VFORK;
}

static bool waits_for_a_child(pid_t pid, pid_t tid)
{
	struct proc_syscall call;
	struct proc_status status;
	return !proc_syscall_read(pid, tid, &call) && !call.running &&
	       memory_thread_is_in_vfork(tid, &call) && !proc_status_read(pid, tid, &status) &&
	       status.state == 'D';
}

/*
 * True if the parent is the target or a process that shares its memory, and a thread of the parent
 * waits in vfork. While that lasts, the parent's other children that share the memory are treated
 * as vfork children too.
 */
static bool is_awaited(pid_t target, pid_t pid)
{
	struct proc_status status;
	pid_t *tids;
	size_t count;
	bool is = false, is_of_us;
	if (proc_status_read(pid, pid, &status))
		return false;
	is_of_us = status.ppid == target;
	for (size_t i = 0; i < found.sharers.count; i++)
		is_of_us |= found.sharers.pid[i] == status.ppid;
	if (!is_of_us || proc_tasks(status.ppid, &tids, &count))
		return false;
	for (size_t i = 0; i < count && !is; i++)
		is = waits_for_a_child(status.ppid, tids[i]);
	free(tids);
	return is;
}

int memory_threads_list(pid_t pid, struct memory_threads *out_threads)
{
	struct memory_threads threads = {0};
	pthread_mutex_lock(&found_lock);
	int err = find_sharers(pid);
	if (!err)
		err = add_threads(&threads, pid, false);
	for (size_t i = 0; i < found.sharers.count && !err; i++)
		err = add_threads(&threads, found.sharers.pid[i],
				  is_awaited(pid, found.sharers.pid[i]));
	threads.unknown = found.unknown.count ? found.unknown.pid[0] : 0;
	pthread_mutex_unlock(&found_lock);
	if (err)
		memory_threads_close(&threads);
	else
		*out_threads = threads;
	return err;
}

void memory_threads_close(struct memory_threads *threads)
{
	free(threads->thread);
	*threads = (struct memory_threads){0};
}

pid_t memory_threads_pid(const struct memory_threads *threads, pid_t tid, pid_t otherwise)
{
	for (size_t i = 0; i < threads->count; i++)
		if (threads->thread[i].tid == tid)
			return threads->thread[i].pid;
	return otherwise;
}
