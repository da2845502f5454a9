/* SPDX-License-Identifier: MIT */
/*
 * syscalls.c - what is known of system calls that all CPUs have, by their numbers, which differ.
 * What a CPU has beside these is in its own_calls.c, and what the kernel makes of a call that a
 * stop interrupts in its guard.c.
 */
#include "syscalls.h"

#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/*
 * Best: calls that the kernel restarts invisibly. Then threads in no call at all. Then calls that a
 * bare stop makes fail with EINTR and that the injector rewinds (a relative timeout then starts
 * anew). Last: calls that wait under another signal mask; their result is right in the end, but
 * they run twice. A thread that is exiting or executing another program is of no use.
 */
int arch_borrow_score(long number)
{
	switch (number) {
	case SYS_futex:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_wait4:
	case SYS_waitid:
	case SYS_msgrcv:
		return 4;
	case -1:
	case SYS_read:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_accept:
	case SYS_accept4:
		return 3;
	case SYS_rt_sigtimedwait:
	/* if the injector died here, the guard frame could not resume it: EINTR */
	case SYS_restart_syscall:
		return 1;
	case SYS_rt_sigsuspend:
	case SYS_ppoll:
	case SYS_pselect6:
	case SYS_epoll_pwait:
		return 0;
	case SYS_execve:
	case SYS_execveat:
	case SYS_exit:
	case SYS_exit_group:
		return -1;
	default:
		return arch_own_borrow_score(number);
	}
}

bool arch_is_transfer(long number, const uint64_t argument[6])
{
	switch (number) {
	case SYS_write:
	case SYS_writev:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_sendfile:
	case SYS_splice:
	case SYS_tee:
	case SYS_vmsplice:
	case SYS_copy_file_range:
		return true;
	case SYS_recvfrom:
		return argument[3] & MSG_WAITALL;
	case SYS_recvmsg:
		return argument[2] & MSG_WAITALL;
	default:
		return false;
	}
}

bool arch_is_repeatable(long number)
{
	switch (arch_new_call(number)) {
	case SYS_epoll_pwait:
	case 441: /* epoll_pwait2; not in older headers */
	case SYS_rt_sigtimedwait:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_io_getevents:
	case SYS_io_pgetevents:
	case 426: /* io_uring_enter */
	case SYS_read:
	case SYS_readv:
	case SYS_write:
	case SYS_writev:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
		return true;
	default:
		return false;
	}
}

enum arch_call_effect arch_call_effect(long number)
{
	switch (arch_new_call(number)) {
	case SYS_write:
	case SYS_pwrite64:
	case SYS_writev:
	case SYS_pwritev:
	case SYS_pwritev2:
	case SYS_openat:
	case SYS_openat2:
	case SYS_close:
	case SYS_close_range:
	case SYS_faccessat:
	case SYS_faccessat2:
	case SYS_fsync:
	case SYS_fdatasync:
	case SYS_sync:
	case SYS_syncfs:
	case SYS_sync_file_range:
	case SYS_renameat:
	case SYS_renameat2:
	case SYS_unlinkat:
	case SYS_mkdirat:
	case SYS_truncate:
	case SYS_ftruncate:
	case SYS_fallocate:
	case SYS_flock:
	case SYS_chdir:
	case SYS_execve:
	case SYS_execveat:
	case SYS_exit:
	case SYS_exit_group:
		return ARCH_CALL_READS;
	case SYS_read:
	case SYS_pread64:
	case SYS_readv:
	case SYS_preadv:
	case SYS_preadv2:
	case SYS_sendfile:
	case SYS_copy_file_range:
	case SYS_fstat:
	case SYS_newfstatat:
	case SYS_statx:
	case SYS_statfs:
	case SYS_fstatfs:
	case SYS_readlinkat:
	case SYS_getdents64:
	case -1: /* a page fault, most likely */
		return ARCH_CALL_WRITES;
	default:
		return ARCH_CALL_MAPS;
	}
}

bool arch_is_clone(long number, const uint64_t argument[6], uint64_t *out_flags,
		   uint64_t *out_flags_at)
{
	const bool is_vfork = arch_is_vfork(number);

	*out_flags = is_vfork ? CLONE_VM | CLONE_VFORK : number == SYS_clone ? argument[0] : 0;
	*out_flags_at =
		number == SYS_clone3 ? argument[0] : 0; /* the first member of struct clone_args */
	return is_vfork || number == SYS_clone || number == SYS_clone3;
}
