/* SPDX-License-Identifier: MIT */
/*
 * heir.c - see heir.h. Our own control block shows which processes live in the memory: a process
 * with an identical block at the same address has that memory, or a copy of it made by fork, in
 * which the word `unforked` is zero.
 */
#include "heir.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "proc_file.h"

#define LEAVE_TRIES 60 /* waiting for a child of vfork: 300 ms */
#define LEAVE_PAUSE_NS 5000000
#define HEAD_BYTES 64 /* of the control block */

static bool is_left(const struct attachment *attachment)
{
	const struct timespec pause = {.tv_nsec = LEAVE_PAUSE_NS};
	for (unsigned tries = 0; tries < LEAVE_TRIES; tries++) {
		if (!memory_is_alive(&attachment->memory))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* Is the memory seen through that thread the same as through our descriptor? */
static bool has_our_block(const struct attachment *attachment, pid_t tid)
{
	const remote_addr at = attachment->control->arena;
	uint8_t ours[HEAD_BYTES], its[HEAD_BYTES];
	const struct iovec local = {its, sizeof(its)},
			   remote = {(void *)(uintptr_t)at, sizeof(its)};
	uint64_t unforked = 0;
	const struct iovec local_word = {&unforked, sizeof(unforked)};
	const struct iovec remote_word = {(void *)(uintptr_t)(arena_state(attachment->control) +
							      offsetof(struct hi_state, unforked)),
					  sizeof(unforked)};
	return process_vm_readv(tid, &local, 1, &remote, 1, 0) == HEAD_BYTES &&
	       !memory_read(&attachment->memory, at, ours, sizeof(ours)) &&
	       !memcmp(ours, its, sizeof(ours)) &&
	       process_vm_readv(tid, &local_word, 1, &remote_word, 1, 0) == sizeof(unforked) &&
	       unforked;
}

/*
 * Returns a thread of that process that lives in the memory; 0: none. A leader that has ended lives
 * in no memory.
 */
static pid_t find_thread(const struct attachment *attachment, pid_t pid)
{
	pid_t *tids, found = 0;
	size_t count;
	if (proc_tasks(pid, &tids, &count))
		return 0;
	for (size_t i = 0; i < count && !found; i++)
		if (has_our_block(attachment, tids[i]))
			found = tids[i];
	free(tids);
	return found;
}

static pid_t find_process(const struct attachment *attachment, pid_t *out_tid)
{
	pid_t pid = 0;
	DIR *proc = opendir(PROC_DIRECTORY);
	*out_tid = 0;
	while (proc && !*out_tid && (pid = proc_next(proc)))
		if (pid != attachment->pid && pid != getpid())
			*out_tid = find_thread(attachment, pid);
	if (proc)
		closedir(proc);
	return pid;
}

int heir_take(struct attachment *attachment)
{
	if (!attachment->control || !attachment->control->arena || is_left(attachment))
		return -ESRCH;
	pid_t tid;
	const pid_t pid = find_process(attachment, &tid);
	uint64_t start_time;
	if (!tid)
		return -ESRCH;
	const int err = proc_start_time(pid, &start_time);
	if (err)
		return err;
	if (attachment->pidfd >= 0)
		close(attachment->pidfd);
	attachment->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	attachment->died = attachment->pid;
	attachment->pid = attachment->memory.pid = pid;
	attachment->tid = attachment->memory.tid = tid;
	attachment->start_time = start_time;
	return 0;
}
