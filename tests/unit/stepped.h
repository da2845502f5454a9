/* SPDX-License-Identifier: MIT */
/*
 * stepped.h - a case that gets a signal at a chosen instruction: its parent traces it, and executes
 * its code one instruction at a time.
 *
 *     stepped_open();                // from here on this is the process that is traced
 *     stepped_begin(code, 5);        // SIGUSR1 at the fifth instruction within `code`
 *     ...
 *     came = stepped_end();          // whether it came
 *
 * What comes after `code` is executed at once: where each instruction is a stop, a store exclusive
 * never succeeds.
 */
#ifndef HI_STEPPED_H
#define HI_STEPPED_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "traced_pc.h"
#include "unit.h"

struct stepped_code {
	uintptr_t lo, hi;
};

/* What the case tells who traces it. */
static volatile struct stepped {
	struct stepped_code code;
	unsigned left; /* instructions until the signal */
	bool is_stepping, has_begun, has_come, is_over;
} * stepped;

/* The signal that the case is to get, 0: none. */
static inline int stepped_signal(pid_t pid)
{
	const uint64_t pc = traced_pc(pid);
	const bool is_inside = pc >= stepped->code.lo && pc < stepped->code.hi;

	if (stepped->has_begun && !is_inside)
		stepped->is_stepping = false;
	if (!is_inside)
		return 0;
	stepped->has_begun = true;
	if (--stepped->left)
		return 0;
	stepped->has_come = true;
	stepped->is_stepping = false;
	return SIGUSR1;
}

/* Ends as the case does. */
static inline void stepped_trace(pid_t pid)
{
	int status, signal;

	for (;;) {
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			break;
		signal = WSTOPSIG(status);
		if (signal == SIGTRAP)
			signal = stepped->is_stepping ? stepped_signal(pid) : 0;
		else if (signal == SIGSTOP)
			signal = 0; /* by which the case begins and ends */
		if (stepped->is_over) {
			ptrace(PTRACE_DETACH, pid, NULL, NULL);
			continue;
		}
		if (ptrace(stepped->is_stepping ? PTRACE_SINGLESTEP : PTRACE_CONT, pid, NULL,
			   (void *)(intptr_t)signal))
			break;
	}
	fflush(NULL);
	if (WIFSIGNALED(status))
		raise(WTERMSIG(status));
	_exit(WEXITSTATUS(status));
}

/* A leak checker, which looks at exit, is not traced. */
static void stepped_close(void)
{
	stepped->is_over = true;
	raise(SIGSTOP);
}

static inline void stepped_open(void)
{
	pid_t pid;

	stepped = mmap(NULL, sizeof(*stepped), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	CHECK(stepped != MAP_FAILED);
	fflush(NULL);
	pid = fork();
	CHECK(pid >= 0);
	if (pid)
		stepped_trace(pid);
	CHECK_EQ(prctl(PR_SET_PDEATHSIG, SIGKILL), 0);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		SKIP("this process may not be traced");
	atexit(stepped_close);
}

static inline void stepped_begin(struct stepped_code code, unsigned first)
{
	stepped->code.lo = code.lo;
	stepped->code.hi = code.hi;
	stepped->left = first;
	stepped->has_begun = stepped->has_come = false;
	stepped->is_stepping = true;
	raise(SIGSTOP);
}

static inline bool stepped_end(void)
{
	stepped->is_stepping = false;
	raise(SIGSTOP);
	return stepped->has_come;
}

#endif
