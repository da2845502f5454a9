/* SPDX-License-Identifier: MIT */
/* own_calls.c - x86-64: system calls that newer CPUs have not. */
#include "syscalls.h"

#include <sys/syscall.h>

long arch_new_call(long number)
{
	switch (number) {
	case SYS_open:
	case SYS_creat:
		return SYS_openat;
	case SYS_access:
		return SYS_faccessat;
	case SYS_rename:
		return SYS_renameat;
	case SYS_unlink:
	case SYS_rmdir:
		return SYS_unlinkat;
	case SYS_mkdir:
		return SYS_mkdirat;
	case SYS_stat:
	case SYS_lstat:
		return SYS_newfstatat;
	case SYS_readlink:
		return SYS_readlinkat;
	case SYS_getdents:
		return SYS_getdents64;
	case SYS_epoll_wait:
		return SYS_epoll_pwait;
	default:
		return number;
	}
}

/* The first ones the kernel restarts invisibly. A parent in vfork does not stop. */
int arch_own_borrow_score(long number)
{
	switch (number) {
	case SYS_poll:
	case SYS_select:
	case SYS_pause:
		return 4;
	case SYS_vfork:
		return -1;
	default:
		return 2;
	}
}

bool arch_is_vfork(long number)
{
	return number == SYS_vfork;
}
