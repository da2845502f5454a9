/* SPDX-License-Identifier: MIT */
/*
 * arch.c - x86-64: registers, system calls and calls, gadgets, relocation types, the cycle counter.
 * The guard frame is in guard.c.
 */
#include "arch.h"

#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

/*
 * __USER_CS: 64-bit code of the kernel's own descriptor table; anything else is 32-bit or a private
 * descriptor
 */
#define USER_CS 0x33

uint64_t arch_pc(const struct arch_regs *regs)
{
	return regs->user.rip;
}

uint64_t arch_sp(const struct arch_regs *regs)
{
	return regs->user.rsp;
}

void arch_set_pc(struct arch_regs *regs, uint64_t pc)
{
	regs->user.rip = pc;
}

void arch_set_sp(struct arch_regs *regs, uint64_t sp)
{
	regs->user.rsp = sp;
}

uint64_t arch_thread_pointer(const struct arch_regs *regs)
{
	return regs->user.fs_base;
}

uint64_t arch_pointer_guard_at(uint64_t thread_pointer)
{
	return thread_pointer + 0x30; /* header.pointer_guard of tcbhead_t */
}

#define DISGUISE_ROTATION 17 /* PTR_MANGLE: xor %fs:0x30, then rol $17 */

uint64_t arch_disguise_pointer(uint64_t pointer, uint64_t guard)
{
	const uint64_t mixed = pointer ^ guard;

	return mixed << DISGUISE_ROTATION | mixed >> (64 - DISGUISE_ROTATION);
}

uint64_t arch_reveal_pointer(uint64_t disguised, uint64_t guard)
{
	return (disguised >> DISGUISE_ROTATION | disguised << (64 - DISGUISE_ROTATION)) ^ guard;
}

int arch_dwarf_register(const struct arch_regs *regs, int number, uint64_t *out_value)
{
	const struct user_regs_struct *user = &regs->user;
	const uint64_t value[] = {
		user->rax,
		user->rdx,
		user->rcx,
		user->rbx,
		user->rsi,
		user->rdi,
		user->rbp,
		user->rsp,
		user->r8,
		/* 16: return address column */
		user->r9,
		user->r10,
		user->r11,
		user->r12,
		user->r13,
		user->r14,
		user->r15,
		user->rip,
	};

	if (number < 0 || (size_t)number >= sizeof(value) / sizeof(value[0]))
		return -EINVAL;
	*out_value = value[number];
	return 0;
}

int arch_signal_word(uint64_t dwarf)
{
	/*
	 * uc_mcontext.gregs begins at word 5: r8..r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp.
	 * DWARF's order: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8..r15.
	 */
	static const uint8_t word[] = {18, 17, 19, 16, 14, 13, 15, 20, 5, 6, 7, 8, 9, 10, 11, 12};

	return dwarf < sizeof(word) ? word[dwarf] : -1;
}

bool arch_is_kept_by_calls(uint64_t dwarf)
{
	/* rbx, r12..r15 */
	return dwarf == 3 || dwarf == ARCH_DWARF_BP || dwarf == ARCH_DWARF_SP ||
	       (dwarf >= 12 && dwarf <= 15);
}

int arch_kept_index(uint64_t dwarf)
{
	if (dwarf == 3) /* rbx, r12..r15 */
		return 0;
	return dwarf >= 12 && dwarf <= 15 ? (int)dwarf - 11 : -1;
}

int64_t arch_hook_kept(unsigned index)
{
	return -56 + 8 * (int64_t)index;
}

bool arch_any_register_in(const struct arch_regs *regs, uint64_t lo, uint64_t hi)
{
	uint64_t value;

	for (int number = 0; arch_dwarf_register(regs, number, &value) == 0; number++)
		if (value >= lo && value < hi)
			return true;
	return false;
}

size_t arch_replace_register(struct arch_regs *regs, uint64_t from, uint64_t to)
{
	struct user_regs_struct *user = &regs->user;
	unsigned long long *const holder[] = {
		&user->rax, &user->rdx, &user->rcx, &user->rbx, &user->rsi, &user->rdi,
		&user->rbp, &user->r8,  &user->r9,  &user->r10, &user->r11, &user->r12,
		&user->r13, &user->r14, &user->r15, &user->rip,
	};
	size_t replaced = 0;

	for (size_t i = 0; i < sizeof(holder) / sizeof(holder[0]); i++) {
		if (*holder[i] != from)
			continue;
		*holder[i] = to;
		replaced++;
	}
	return replaced;
}

bool arch_is_native(const struct arch_regs *regs)
{
	return regs->user.cs == USER_CS;
}

void arch_begin_syscall(struct arch_regs *regs, uint64_t gadget, long number,
			const uint64_t argument[6])
{
	regs->user.rip = gadget;
	/* the gadget's ret takes the frame's first word: the address of sigreturn */
	regs->user.rsp -= sizeof(uint64_t);
	regs->user.rax = (uint64_t)number;
	regs->user.rdi = argument[0];
	regs->user.rsi = argument[1];
	regs->user.rdx = argument[2];
	regs->user.r10 = argument[3];
	regs->user.r8 = argument[4];
	regs->user.r9 = argument[5];
}

void arch_begin_call(struct arch_regs *regs, uint64_t function, const uint64_t argument[4],
		     uint64_t stack)
{
	regs->user.rip = function;
	regs->user.rsp = stack;
	regs->user.rax = 0; /* no vector arguments, in case the function is variadic */
	regs->user.rdi = argument[0];
	regs->user.rsi = argument[1];
	regs->user.rdx = argument[2];
	regs->user.rcx = argument[3];
}

uint64_t arch_result(const struct arch_regs *regs)
{
	return regs->user.rax;
}

uint64_t arch_syscall_number(const struct arch_regs *regs)
{
	return regs->user.orig_rax;
}

static ssize_t find_bytes(const uint8_t *code, size_t size, const char *wanted, size_t wanted_size)
{
	const uint8_t *found = memmem(code, size, wanted, wanted_size);

	return found ? found - code : -1;
}

ssize_t arch_find_syscall_ret(const uint8_t *code, size_t size)
{
	return find_bytes(code, size, "\x0f\x05\xc3", 3);
}

ssize_t arch_find_sigreturn(const uint8_t *code, size_t size)
{
	/* mov $15,%rax; syscall: glibc and musl */
	static const char mov_rax[] = "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05";
	/* mov $15,%eax; syscall: others */
	static const char mov_eax[] = "\xb8\x0f\x00\x00\x00\x0f\x05";
	ssize_t at = find_bytes(code, size, mov_rax, sizeof(mov_rax) - 1);

	return at >= 0 ? at : find_bytes(code, size, mov_eax, sizeof(mov_eax) - 1);
}

/*
 * Best: calls that the kernel restarts invisibly. Then threads in no call at all. Then calls that a
 * bare stop makes fail with EINTR and that the injector rewinds (a relative timeout then starts
 * anew). Last: calls that wait under another signal mask; their result is right in the end, but
 * they run twice. A vfork parent does not stop. A thread that is exiting or executing another
 * program is of no use.
 */
int arch_borrow_score(long number)
{
	switch (number) {
	case SYS_futex:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_poll:
	case SYS_select:
	case SYS_wait4:
	case SYS_waitid:
	case SYS_pause:
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
	case SYS_vfork:
	case SYS_execve:
	case SYS_execveat:
	case SYS_exit:
	case SYS_exit_group:
		return -1;
	default:
		return 2;
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

enum arch_call_effect arch_call_effect(long number)
{
	switch (number) {
	case SYS_write:
	case SYS_pwrite64:
	case SYS_writev:
	case SYS_pwritev:
	case SYS_pwritev2:
	case SYS_open:
	case SYS_openat:
	case SYS_openat2:
	case SYS_creat:
	case SYS_close:
	case SYS_close_range:
	case SYS_access:
	case SYS_faccessat:
	case SYS_faccessat2:
	case SYS_fsync:
	case SYS_fdatasync:
	case SYS_sync:
	case SYS_syncfs:
	case SYS_sync_file_range:
	case SYS_rename:
	case SYS_renameat:
	case SYS_renameat2:
	case SYS_unlink:
	case SYS_unlinkat:
	case SYS_mkdir:
	case SYS_mkdirat:
	case SYS_rmdir:
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
	case SYS_stat:
	case SYS_lstat:
	case SYS_fstat:
	case SYS_newfstatat:
	case SYS_statx:
	case SYS_statfs:
	case SYS_fstatfs:
	case SYS_readlink:
	case SYS_readlinkat:
	case SYS_getdents:
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
	*out_flags = number == SYS_vfork   ? CLONE_VM | CLONE_VFORK
		     : number == SYS_clone ? argument[0]
					   : 0;
	*out_flags_at =
		number == SYS_clone3 ? argument[0] : 0; /* the first member of struct clone_args */
	return number == SYS_vfork || number == SYS_clone || number == SYS_clone3;
}

bool arch_is_slot_relocation(unsigned type, bool *out_is_jump_slot, bool *out_is_absolute)
{
	*out_is_jump_slot = type == R_X86_64_JUMP_SLOT;
	*out_is_absolute = type == R_X86_64_64;
	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
}

uint64_t arch_cycles(void)
{
	return __rdtsc();
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * The thread may be interrupted between the two readings of the cycle counter around the clock
 * reading. The narrowest of some attempts was not interrupted.
 */
struct arch_moment arch_moment_now(void)
{
	struct arch_moment moment = {0};
	uint64_t narrowest = UINT64_MAX;

	for (int attempt = 0; attempt < 8; attempt++) {
		const uint64_t before = arch_cycles(), ns = now_ns(),
			       width = arch_cycles() - before;

		if (width < narrowest) {
			narrowest = width;
			moment = (struct arch_moment){.cycles = before + width / 2, .ns = ns};
		}
	}
	return moment;
}

/* minimum: clocks are read with an error of some tens of nanoseconds */
#define CALIBRATION_NS 20000000u

static struct arch_moment calibration_start;

void arch_cycles_calibrate(void)
{
	calibration_start = arch_moment_now();
}

/*
 * The time since the start of the calibration counts as waiting time, whatever the program did
 * meanwhile.
 */
uint64_t arch_cycles_per_second(void)
{
	static uint64_t cycles_per_second;

	if (cycles_per_second == 0) {
		struct arch_moment end;

		if (!calibration_start.ns)
			arch_cycles_calibrate();
		while ((end = arch_moment_now()).ns - calibration_start.ns < CALIBRATION_NS)
			nanosleep(&(struct timespec){.tv_nsec = (long)(calibration_start.ns +
								       CALIBRATION_NS - end.ns)},
				  NULL);
		cycles_per_second = (uint64_t)((double)(end.cycles - calibration_start.cycles) *
					       1e9 / (double)(end.ns - calibration_start.ns));
	}
	return cycles_per_second;
}

bool arch_cycles_agree(void)
{
	char source[32] = "";
	const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
			    O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd < 0 ? -1 : read(fd, source, sizeof(source) - 1);

	if (fd >= 0)
		close(fd);
	return got > 0 && strcmp(source, "tsc\n") == 0;
}

/* prefetchw: the first 64-bit CPUs of Intel do not even execute it as a nop. */
bool arch_has_write_prefetch(void)
{
	unsigned eax, ebx, ecx, edx;

	return __get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) && (ecx & bit_PRFCHW);
}

/* rdtscp: a hypervisor may forbid it, and then CPUID does not show it. */
bool arch_has_fast_clock(void)
{
	unsigned eax, ebx, ecx, edx;

	return __get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) && (edx & 1u << 27);
}
