/* SPDX-License-Identifier: MIT */
/* traced_pc.h - x86-64: where a thread is that we trace, and that has stopped. */
#ifndef HI_TRACED_PC_H
#define HI_TRACED_PC_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>

/* The gate counts a call by one instruction. */
#define GATE_COUNTS_AT_ONCE 1

/* 0: it is not there any more */
static inline uint64_t traced_pc(pid_t tid)
{
	errno = 0;
	const long pc =
		ptrace(PTRACE_PEEKUSER, tid, (void *)offsetof(struct user_regs_struct, rip), NULL);

	return errno ? 0 : (uint64_t)pc;
}

#endif
