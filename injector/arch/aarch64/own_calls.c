/* SPDX-License-Identifier: MIT */
/* own_calls.c - aarch64: it has no system call that others lack, and none of the older ones. */
#include "syscalls.h"

#include <sys/syscall.h>

long arch_new_call(long number)
{
	return number;
}

/* A parent that waits for its child as after vfork is in one of these, and does not stop. */
int arch_own_borrow_score(long number)
{
	return number == SYS_clone || number == SYS_clone3 ? -1 : 2;
}

bool arch_is_vfork(long number)
{
	(void)number;
	return false;
}
