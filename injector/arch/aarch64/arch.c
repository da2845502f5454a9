/* SPDX-License-Identifier: MIT */
/*
 * arch.c - aarch64: registers, the start of system calls and calls, gadgets, relocation types. The
 * guard frame is in guard.c.
 */
#include "arch.h"

#include <asm/ptrace.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "a64.h"

#define PSTATE_IS_32 0x10ull
#define LINK 30
#define ADDRESS_MASK 0xffffffffffffffull
#define GCS_ENABLED 1u /* PR_SHADOW_STACK_ENABLE */

const struct arch_register_set *arch_register_sets(size_t *out_count)
{
	static const struct arch_register_set sets[] = {
		{NT_PRSTATUS, offsetof(struct arch_regs, user), sizeof(struct user_regs_struct),
		 false},
		{NT_ARM_TLS, offsetof(struct arch_regs, thread_pointer), sizeof(uint64_t), true},
		{NT_ARM_SYSTEM_CALL, offsetof(struct arch_regs, call), sizeof(int32_t), false},
	};

	*out_count = sizeof(sets) / sizeof(sets[0]);
	return sets;
}

/* That of SVE holds the other, where a thread uses no SVE. */
const int arch_xstate_types[] = {NT_ARM_SVE, NT_PRFPREG, 0};

/* Of that of SVE the kernel says how large it may be; its head says how large it is. */
size_t arch_xstate_size(const void *xstate, size_t size)
{
	struct user_sve_header head;

	if (size <= sizeof(struct user_fpsimd_state))
		return size;
	memcpy(&head, xstate, sizeof(head));
	return head.size < size ? head.size : size;
}

/*
 * The head of that of SVE sets the vector length, too, also to what it is. That cancels what the
 * thread has asked for after its next exec (PR_SVE_SET_VL_ONEXEC), which the head does not show.
 */
struct arch_xstate_part arch_xstate_to_set(int type, const void *xstate, size_t size)
{
	struct user_sve_header head;

	if (type == NT_ARM_SVE && size >= SVE_PT_FPSIMD_OFFSET + sizeof(struct user_fpsimd_state)) {
		memcpy(&head, xstate, sizeof(head));
		if ((head.flags & SVE_PT_REGS_MASK) == SVE_PT_REGS_FPSIMD)
			return (struct arch_xstate_part){NT_PRFPREG, SVE_PT_FPSIMD_OFFSET,
							 sizeof(struct user_fpsimd_state)};
	}
	return (struct arch_xstate_part){type, 0, size};
}

/*
 * SME. A system call ends streaming mode, and NT_ARM_SVE has nothing of its vectors; ZA may take
 * 64 kB. FPMR, like ZA, is left alone by system calls, and by rt_sigreturn without a record of it.
 *
 * GCS: a guarded control stack (Linux 6.13) does not have the returns to our gadget and frame.
 */
const int arch_unsaved_types[] = {NT_ARM_SSVE, NT_ARM_ZA, NT_ARM_GCS, 0};

bool arch_has_unsaved(int type, const uint8_t head[ARCH_UNSAVED_HEAD])
{
	struct user_sve_header streaming;
	struct user_za_header za;
	uint64_t features;

	_Static_assert(sizeof(streaming) == ARCH_UNSAVED_HEAD && sizeof(za) == ARCH_UNSAVED_HEAD,
		       "nothing but the head is read");
	if (type == NT_ARM_SSVE) {
		memcpy(&streaming, head, sizeof(streaming));
		return (streaming.flags & SVE_PT_REGS_MASK) == SVE_PT_REGS_SVE;
	}
	if (type == NT_ARM_GCS) {
		memcpy(&features, head, sizeof(features));
		return features & GCS_ENABLED;
	}
	memcpy(&za, head, sizeof(za));
	return za.size > ZA_PT_ZA_OFFSET;
}

uint64_t arch_pc(const struct arch_regs *regs)
{
	return regs->user.pc;
}

uint64_t arch_sp(const struct arch_regs *regs)
{
	return regs->user.sp;
}

void arch_set_pc(struct arch_regs *regs, uint64_t pc)
{
	regs->user.pc = pc;
}

void arch_set_sp(struct arch_regs *regs, uint64_t sp)
{
	regs->user.sp = sp;
}

uint64_t arch_thread_pointer(const struct arch_regs *regs)
{
	return regs->thread_pointer;
}

/* glibc has it in a variable of the dynamic linker. */
const char *arch_pointer_guard_symbol(void)
{
	return "__pointer_chk_guard";
}

uint64_t arch_pointer_guard_at(uint64_t thread_pointer)
{
	(void)thread_pointer;
	return 0;
}

uint64_t arch_disguise_pointer(uint64_t pointer, uint64_t guard)
{
	return pointer ^ guard;
}

uint64_t arch_reveal_pointer(uint64_t disguised, uint64_t guard)
{
	return disguised ^ guard;
}

/*
 * A signature begins above the address bits of this kernel (39 to 52), which is that of the target,
 * too: xpaclri, whose operand is x30, and which does nothing on a CPU without signatures. The top
 * byte may be a tag.
 */
uint64_t arch_plain_address(uint64_t address)
{
	register uint64_t link __asm__("x30") = address;

	__asm__("hint #7" : "+r"(link));
	return link & ADDRESS_MASK;
}

/* 32 is libunwind's number of pc, which has none in DWARF. */
int arch_dwarf_register(const struct arch_regs *regs, int number, uint64_t *out_value)
{
	if (number >= 0 && number <= LINK)
		*out_value = regs->user.regs[number];
	else if (number == ARCH_DWARF_SP)
		*out_value = regs->user.sp;
	else if (number == ARCH_DWARF_SP + 1)
		*out_value = regs->user.pc;
	else
		return -EINVAL;
	return 0;
}

bool arch_any_register_in(const struct arch_regs *regs, uint64_t lo, uint64_t hi)
{
	uint64_t value;

	for (int number = 0; arch_dwarf_register(regs, number, &value) == 0; number++)
		if (arch_plain_address(value) >= lo && arch_plain_address(value) < hi)
			return true;
	return false;
}

size_t arch_replace_register(struct arch_regs *regs, uint64_t from, uint64_t to)
{
	size_t replaced = 0;

	for (unsigned i = 0; i <= LINK; i++) {
		if (regs->user.regs[i] != from)
			continue;
		regs->user.regs[i] = to;
		replaced++;
	}
	if (regs->user.pc == from) {
		regs->user.pc = to;
		replaced++;
	}
	return replaced;
}

/* The kernel fills less than this with the registers of a 32-bit program. */
bool arch_is_native(const struct arch_regs *regs)
{
	return regs->user.pc && regs->user.sp && !(regs->user.pstate & PSTATE_IS_32);
}

/* The gadget's `ret` goes by x30, which leads to rt_sigreturn. */
void arch_begin_syscall(struct arch_regs *regs, uint64_t gadget, long number,
			const uint64_t argument[6])
{
	regs->user.pc = gadget;
	regs->user.regs[8] = (uint64_t)number;
	for (unsigned i = 0; i < 6; i++)
		regs->user.regs[i] = argument[i];
}

void arch_begin_call(struct arch_regs *regs, uint64_t function, const uint64_t argument[4],
		     uint64_t stack)
{
	regs->user.pc = function;
	regs->user.sp = stack;
	for (unsigned i = 0; i < 4; i++)
		regs->user.regs[i] = argument[i];
}

uint64_t arch_result(const struct arch_regs *regs)
{
	return regs->user.regs[0];
}

/* The kernel looks at the lower half of x8 alone. */
uint64_t arch_syscall_number(const struct arch_regs *regs)
{
	return (int32_t)regs->user.regs[8] == regs->call ? regs->user.regs[8]
							 : (uint64_t)(int64_t)regs->call;
}

/* It has returned to rt_sigreturn, which leaves x0 alone until it runs. */
uint64_t arch_returned(const struct arch_regs *regs)
{
	return regs->user.regs[0];
}

/* Finds two instructions, one after the other. */
static ssize_t find_pair(const uint8_t *code, size_t size, uint32_t first, uint32_t second)
{
	for (size_t at = 0; at + 2 * A64_BYTES <= size; at += A64_BYTES)
		if (a64_read(code + at) == first && a64_read(code + at + A64_BYTES) == second)
			return (ssize_t)at;
	return -1;
}

ssize_t arch_find_syscall_ret(const uint8_t *code, size_t size)
{
	return find_pair(code, size, A64_SVC, A64_RET);
}

ssize_t arch_find_sigreturn(const uint8_t *code, size_t size)
{
	return find_pair(code, size, A64_MOV_X8 | SYS_rt_sigreturn << 5, A64_SVC);
}

/* Not needed: the vdso of every program makes that call. */
ssize_t arch_find_load(const uint8_t *code, size_t size)
{
	(void)code, (void)size;
	return -1;
}

bool arch_is_slot_relocation(unsigned type, bool *out_is_jump_slot, bool *out_is_absolute)
{
	*out_is_jump_slot = type == R_AARCH64_JUMP_SLOT;
	*out_is_absolute = type == R_AARCH64_ABS64;
	return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_ABS64;
}
