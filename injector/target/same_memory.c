/* SPDX-License-Identifier: MIT */
/* same_memory.c - see same_memory.h. Enter at same_memory_ask. */
#include "same_memory.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc_file.h"
#include "procfs.h"

/* comparisons of sizes: those of different processes differ in at least one, except by chance */
#define LOOKS 3
#define LOOKS_AT_MAPS 5 /* comparisons of maps, if the program keeps mapping something */

/*
 * 0: the same memory. Positive: not the same. Two threads that both have no memory count as the
 * same.
 */
static int compare_by_kernel(pid_t one, pid_t other)
{
	const long answer = syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0);
	return answer < 0 ? -errno : (int)answer;
}

static int end_at_once(void *unused)
{
	(void)unused;
	return 0;
}

/*
 * A process with the same memory as an exited process has no memory. kcmp answers that in two
 * microseconds, /proc takes ten; thousands of processes are examined. The child exits without a
 * signal to the injector. It shares the injector's memory until it has exited, because it needs no
 * copy.
 */
static pid_t end_a_child(void)
{
	/* used by one child at a time, because its parent waits */
	static _Alignas(16) char stack[16384];
	const pid_t pid = clone(end_at_once, stack + sizeof(stack), CLONE_VM | CLONE_VFORK, NULL);
	return pid > 0 ? pid : 0;
}

int same_memory_open(pid_t pid, struct same_memory_reference *out_reference)
{
	const pid_t tid = proc_thread_with_memory(pid), self = getpid();
	struct proc_status ours;
	if (!tid)
		return -ESRCH;
	const int err = proc_status_read(self, self, &ours);
	if (err)
		return err;
	*out_reference = (struct same_memory_reference){
		.pid = pid,
		.tid = tid,
		.has_kcmp = compare_by_kernel(self, self) == 0,
		.may_ask_anybody = ours.cap_effective >> CAP_SYS_PTRACE & 1,
		.uid = ours.uid_effective,
	};
	return 0;
}

void same_memory_boost(struct same_memory_reference *reference)
{
	reference->nobody = reference->has_kcmp ? end_a_child() : 0;
}

void same_memory_restore(struct same_memory_reference *reference)
{
	if (reference->nobody)
		waitpid(reference->nobody, NULL, __WALL);
	reference->nobody = 0;
}

bool same_memory_is_sound(const struct same_memory_reference *reference)
{
	return proc_has_memory(reference->pid, reference->tid);
}

/* ---- without the kernel's word --------------------------------------------------------------- */

/*
 * The lines of status about the memory, which anybody may read: the sizes, and the largest that
 * they have been. A name cannot contain a line.
 */
static const char *memory_lines(char *status)
{
	char *begin = strstr(status, "\nVmPeak:"),
	     *end = begin ? strstr(begin, "\nThreads:") : NULL;
	if (!end)
		return "";
	*end = 0;
	return begin;
}

/*
 * -1: cannot be determined; 0: differ; 1: equal. The file of the reference is read before and
 * after, because it may change meanwhile.
 */
static int compare_file(const struct same_memory_reference *reference, pid_t pid, const char *name)
{
	char *before = NULL, *its = NULL, *after = NULL;
	int answer = -1;
	if (!proc_file_read(reference->pid, reference->tid, name, &before, NULL) &&
	    !proc_file_read(pid, 0, name, &its, NULL) &&
	    !proc_file_read(reference->pid, reference->tid, name, &after, NULL)) {
		const bool is_status = !strcmp(name, "status");
		const char *first = is_status ? memory_lines(before) : before,
			   *other = is_status ? memory_lines(its) : its,
			   *last = is_status ? memory_lines(after) : after;
		if (!strcmp(other, first) || !strcmp(other, last))
			answer = 1;
		else if (!strcmp(first, last))
			answer = 0;
	}
	free(before);
	free(its);
	free(after);
	return answer;
}

static bool have_begun_alike(const struct same_memory_reference *reference, pid_t pid)
{
	enum { START_STACK = 28 };
	char *ours, *its;
	uint64_t our_stack = 0, its_stack = 0;
	if (proc_file_read(reference->pid, reference->tid, "stat", &ours, NULL))
		return true;
	const int err = proc_file_read(pid, 0, "stat", &its, NULL);
	const bool may_be = !err && !proc_stat_field(ours, START_STACK, &our_stack) &&
			    !proc_stat_field(its, START_STACK, &its_stack) &&
			    our_stack == its_stack;
	if (!err)
		free(its);
	free(ours);
	return may_be;
}

/*
 * In doubt the answer is yes: it does no harm to examine the threads of an unrelated process that
 * the injector may trace.
 */
static bool may_have_same(const struct same_memory_reference *reference, pid_t pid,
			  const char *name)
{
	int answer = -1;
	for (unsigned look = 0; look < LOOKS_AT_MAPS && answer < 0; look++)
		answer = compare_file(reference, pid, name);
	return answer != 0;
}

/*
 * A forked child may have the same mappings, but not as many resident pages of shared mappings:
 * these are mapped in when the child touches them.
 */
static bool have_same_maps(const struct same_memory_reference *reference, pid_t pid)
{
	return may_have_same(reference, pid, "maps") && may_have_same(reference, pid, "statm");
}

static bool have_same_sizes(const struct same_memory_reference *reference, pid_t pid)
{
	for (unsigned look = 0; look < LOOKS; look++)
		if (compare_file(reference, pid, "status") != 1)
			return false;
	return true;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static bool may_ask(const struct same_memory_reference *reference, pid_t pid)
{
	struct stat info;
	if (reference->may_ask_anybody)
		return true;
	return stat(proc_path(pid, 0, "").text, &info) != 0 || info.st_uid == reference->uid;
}

static int compare(const struct same_memory_reference *reference, pid_t pid, pid_t tid)
{
	if (reference->has_kcmp)
		return compare_by_kernel(reference->tid, tid);
	return have_begun_alike(reference, pid) && have_same_maps(reference, pid) ? 0 : 1;
}

static bool is_without_memory(const struct same_memory_reference *reference, pid_t pid)
{
	return reference->nobody ? compare_by_kernel(reference->nobody, pid) == 0
				 : !proc_has_memory(pid, pid);
}

enum same_memory same_memory_ask(const struct same_memory_reference *reference, pid_t pid)
{
	int answer = may_ask(reference, pid) ? compare(reference, pid, pid) : -EPERM;
	/* its leader has exited; ask about another thread */
	if (answer > 0 && is_without_memory(reference, pid)) {
		const pid_t tid = proc_thread_with_memory(pid);
		answer = tid ? compare(reference, pid, tid) : -ESRCH;
	}
	if (answer == 0)
		return SAME_MEMORY_YES;
	return answer == -EPERM && have_same_sizes(reference, pid) ? SAME_MEMORY_UNKNOWN
								   : SAME_MEMORY_NO;
}
