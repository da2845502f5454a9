/* SPDX-License-Identifier: MIT */
/*
 * arch.c - x86-64: registers, the start of system calls and calls, gadgets, relocation types. The
 * guard frame is in guard.c.
 */
#include "arch.h"

#include <errno.h>
#include <string.h>

/*
 * __USER_CS: 64-bit code of the kernel's own descriptor table; anything else is 32-bit or a private
 * descriptor
 */
#define USER_CS 0x33

const struct arch_register_set *arch_register_sets(size_t *out_count)
{
	static const struct arch_register_set general = {NT_PRSTATUS, 0, sizeof(struct arch_regs),
							 false};

	*out_count = 1;
	return &general;
}

const int arch_xstate_types[] = {NT_X86_XSTATE, 0};

size_t arch_xstate_size(const void *xstate, size_t size)
{
	(void)xstate;
	return size;
}

struct arch_xstate_part arch_xstate_to_set(int type, const void *xstate, size_t size)
{
	(void)xstate;
	return (struct arch_xstate_part){type, 0, size};
}

/* All is in that one. */
const int arch_unsaved_types[] = {0};

bool arch_has_unsaved(int type, const uint8_t head[ARCH_UNSAVED_HEAD])
{
	(void)type, (void)head;
	return false;
}

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

const char *arch_pointer_guard_symbol(void)
{
	return NULL;
}

uint64_t arch_plain_address(uint64_t address)
{
	return address;
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

/* The gadget's system call is made with the number that the function returned. */
uint64_t arch_returned(const struct arch_regs *regs)
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

ssize_t arch_find_load(const uint8_t *code, size_t size)
{
	return find_bytes(code, size, "\x58\xc3", 2); /* pop %rax; ret */
}

bool arch_is_slot_relocation(unsigned type, bool *out_is_jump_slot, bool *out_is_absolute)
{
	*out_is_jump_slot = type == R_X86_64_JUMP_SLOT;
	*out_is_absolute = type == R_X86_64_64;
	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
}
