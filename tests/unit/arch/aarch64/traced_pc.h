/* SPDX-License-Identifier: MIT */
/* traced_pc.h - aarch64: where a thread is that we trace, and that has stopped. */
#ifndef HI_TRACED_PC_H
#define HI_TRACED_PC_H

#include <elf.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>

/* The gate loads the countdown, and stores it some instructions later. */
#define GATE_COUNTS_AT_ONCE 0

/* 0: it is not there any more */
static inline uint64_t traced_pc(pid_t tid)
{
	struct user_regs_struct registers;
	struct iovec into = {.iov_base = &registers, .iov_len = sizeof(registers)};

	return ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &into) ? 0 : registers.pc;
}

#endif
