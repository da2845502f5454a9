/* SPDX-License-Identifier: MIT */
/*
 * arch.h - all the injector knows about a CPU and its kernel ABI; implemented by arch/$(ARCH)/arch.c, chosen at link time.
 *
 * No file outside arch/ names a register, an instruction, a system-call number that differs between CPUs, or a relocation type.
 */
#ifndef HI_ARCH_H
#define HI_ARCH_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct arch_regs {
	struct user_regs_struct user; /* NT_PRSTATUS */
};

#define ARCH_RED_ZONE 128
#define ARCH_XSTATE_MAX 16384 /* AMX state included */
#define ARCH_ELF_MACHINE EM_X86_64

uint64_t arch_pc(const struct arch_regs *regs);
uint64_t arch_sp(const struct arch_regs *regs);
void arch_set_pc(struct arch_regs *regs, uint64_t pc);
/* True if any general register, pc included, lies in [lo, hi). */
bool arch_any_register_in(const struct arch_regs *regs, uint64_t lo, uint64_t hi);
/* DWARF register n (of .eh_frame), for the stack walker; -EINVAL for others. */
int arch_dwarf_register(const struct arch_regs *regs, int number, uint64_t *out_value);

/* Not in a 32-bit or foreign-ABI mode at this stop. */
bool arch_is_native(const struct arch_regs *regs);

/* Makes regs the start of system call number from the gadget; the thread's sp must be at the guard frame already. */
void arch_begin_syscall(struct arch_regs *regs, uint64_t gadget, long number, const uint64_t argument[6]);
/* Makes regs the start of a call of function with sp at stack_top; it returns to return_to. The word for the return address must be written by the caller at *out_slot on architectures that push it. */
void arch_begin_call(struct arch_regs *regs, uint64_t function, const uint64_t argument[4], uint64_t stack_top, uint64_t *out_slot);
uint64_t arch_result(const struct arch_regs *regs);
/* Registers at a system-call stop: number asked for. */
long arch_syscall_number(const struct arch_regs *regs);

/*
 * The stop broke off a system call. If it was to fail with EINTR for no reason of its own (and no signal is pending), rewind it, so that the application
 * sees nothing; restarts by the kernel are left to it. Returns true if regs were changed.
 */
bool arch_rewind_interrupted(struct arch_regs *regs, bool signal_pending);
/* The same resolved inside a frame that rt_sigreturn restores, where the kernel does no restart any more. */
void arch_resolve_restart(struct arch_regs *regs);

/*
 * Builds the guard frame for a thread with these registers, extended state and mask. frame_at: where it will lie (below the red zone); returns bytes used
 * (<= room) or -ENOSPC. Sets *guarded to registers whose `ret` from a system call enters rt_sigreturn at `sigreturn`.
 */
ssize_t arch_build_guard(const struct arch_regs *original, const void *xstate, size_t xstate_size, uint64_t sigmask, uint64_t sigreturn, uint64_t stack_limit,
			 void *frame, size_t room, uint64_t *out_frame_at, struct arch_regs *guarded);
/* Make these registers finish by rt_sigreturn from the guard frame, as they would if we died. */
size_t arch_guard_room(size_t xstate_size); /* bytes of stack that a guard needs below sp, scratch included */

/* Finds gadgets in a copy of executable bytes; offset, or -1. */
ssize_t arch_find_syscall_ret(const uint8_t *code, size_t size);
ssize_t arch_find_sigreturn(const uint8_t *code, size_t size);

/* Score of a blocked system call for borrowing its thread: higher is better, negative = never. number -1: not in a call. */
int arch_borrow_score(long number);

/* Relocation types that lead to functions. */
bool arch_is_slot_relocation(unsigned type, bool *out_is_jump_slot, bool *out_is_absolute);

/* Cycle counter of this CPU, and how many ticks it makes a second (calibrated once, about 20 ms). */
uint64_t arch_cycles(void);
uint64_t arch_cycles_per_second(void);

#endif
