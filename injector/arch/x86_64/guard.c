/* SPDX-License-Identifier: MIT */
/*
 * guard.c - x86-64: the guard frame, and what happens to a system call that the injector's stop
 * interrupted.
 *
 * The frame is what the kernel writes when it delivers a signal, laid out by hand because user
 * headers do not declare it:
 *
 *       at + 0    u64 pretcode       address of code that makes rt_sigreturn; a `ret` takes it
 *       at + 8    ucontext           u64 flags, u64 link, stack_t, sigcontext (256 bytes, with the
 *                                    fpstate pointer), u64 sigmask
 *       at + 312  siginfo            unused
 *       ...       fpstate            64-byte aligned; the XSAVE image, closed by a magic word
 *
 * A program that handles no signal may have no code that makes rt_sigreturn. Then two words come
 * first: the address of code that takes the next word into rax and returns, and the number of the
 * call; pretcode is the address of a system-call instruction.
 *
 * rt_sigreturn restores all of it except fs_base and gs_base, which the injector never changes.
 */
#include "syscalls.h"

#include <cpuid.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define CONTEXT_AT 8
#define SIGMASK_AT (CONTEXT_AT + 296)
#define SIGMASK_BYTES 8

_Static_assert(offsetof(ucontext_t, uc_mcontext) == 40, "as in the kernel's struct ucontext");
_Static_assert(offsetof(ucontext_t, uc_sigmask) == SIGMASK_AT - CONTEXT_AT,
	       "as in the kernel's struct ucontext");

/* uc_flags: extended state present, ss saved, ss to be restored unconditionally */
#define CONTEXT_FLAGS (0x1 | 0x2 | 0x4)
/*
 * The kernel's restore_altstack() ignores an invalid stack_t. So the thread's alternate stack,
 * which the injector does not know, stays as it is.
 */
#define INVALID_STACK_FLAGS 7

/*
 * Flags that must not be set when injected code begins: single-stepping, backward string
 * operations, alignment checks.
 */
#define FLAGS_CLEARED (0x100ull | 0x400ull | 0x40000ull)

/* 48 bytes that the hardware leaves for software: struct _fpx_sw_bytes */
#define FXSAVE_SOFTWARE_AT 464
#define XSTATE_BV_AT 512
#define XSTATE_ALIGN 64
#define XSTATE_MAGIC1 0x46505853u
#define XSTATE_MAGIC2 0x46505845u
#define FEATURE_TILE_DATA 18

struct software_bytes {
	uint32_t magic1;
	uint32_t extended_size;
	uint64_t features;
	uint32_t size;
	uint32_t padding[7];
};
_Static_assert(sizeof(struct software_bytes) == 48, "struct _fpx_sw_bytes");

/*
 * Error codes with which a system call asks the kernel's signal code for a restart. Programs never
 * see them.
 */
#define ERESTARTSYS 512
#define ERESTARTNOINTR 513
#define ERESTARTNOHAND 514
#define ERESTART_RESTARTBLOCK 516

bool arch_rewind_interrupted(struct arch_regs *regs, const struct arch_call *before)
{
	(void)before;
	if ((int64_t)regs->user.orig_rax < 0 || (int64_t)regs->user.rax != -EINTR ||
	    !arch_is_repeatable((long)regs->user.orig_rax))
		return false;
	/*
	 * This leaves the decision to the kernel. It restarts the call unless it runs a handler;
	 * then the program gets the EINTR that it expects.
	 */
	regs->user.rax = (uint64_t)-ERESTARTNOHAND;
	return true;
}

bool arch_end_rewound(struct arch_regs *regs, const struct arch_call *before)
{
	(void)regs, (void)before;
	return false;
}

void arch_resolve_restart(struct arch_regs *regs)
{
	int64_t result = (int64_t)regs->user.rax;

	if ((int64_t)regs->user.orig_rax < 0)
		return;
	if (result != -ERESTARTSYS && result != -ERESTARTNOINTR && result != -ERESTARTNOHAND &&
	    result != -ERESTART_RESTARTBLOCK)
		return;
	regs->user.rip -= 2; /* back onto the syscall instruction */
	regs->user.rax = regs->user.orig_rax;
	regs->user.orig_rax = (uint64_t)-1;
}

/* The kernel does that when it finds the registers as they were. */
bool arch_needs_restart(const struct arch_regs *regs, const struct arch_call *before)
{
	(void)regs, (void)before;
	return false;
}

void arch_take_restart(struct arch_regs *regs, const struct arch_regs *at_entry)
{
	(void)regs, (void)at_entry;
}

static void fill_registers(const struct user_regs_struct *user, gregset_t to)
{
	to[REG_R8] = (greg_t)user->r8;
	to[REG_R9] = (greg_t)user->r9;
	to[REG_R10] = (greg_t)user->r10;
	to[REG_R11] = (greg_t)user->r11;
	to[REG_R12] = (greg_t)user->r12;
	to[REG_R13] = (greg_t)user->r13;
	to[REG_R14] = (greg_t)user->r14;
	to[REG_R15] = (greg_t)user->r15;
	to[REG_RDI] = (greg_t)user->rdi;
	to[REG_RSI] = (greg_t)user->rsi;
	to[REG_RBP] = (greg_t)user->rbp;
	to[REG_RBX] = (greg_t)user->rbx;
	to[REG_RDX] = (greg_t)user->rdx;
	to[REG_RAX] = (greg_t)user->rax;
	to[REG_RCX] = (greg_t)user->rcx;
	to[REG_RSP] = (greg_t)user->rsp;
	to[REG_RIP] = (greg_t)user->rip;
	to[REG_EFL] = (greg_t)user->eflags;
	to[REG_CSGSFS] = (greg_t)(user->cs | user->gs << 16 | user->fs << 32 | user->ss << 48);
}

/*
 * How much of the XSAVE image rt_sigreturn accepts. The regset always has room for AMX tiles, 8 KiB
 * at the end. A thread that never used them has a smaller state, and the kernel compares sizes. The
 * closing magic word goes after both sizes, because kernels differ in where they look for it.
 */
static size_t frame_xstate_size(const uint8_t *xstate, size_t size)
{
	unsigned length, offset, c, d;
	uint64_t present;

	memcpy(&present, xstate + XSTATE_BV_AT, sizeof(present));
	if (present & 1ull << FEATURE_TILE_DATA ||
	    !__get_cpuid_count(0xd, FEATURE_TILE_DATA, &length, &offset, &c, &d))
		return size;
	return length != 0 && offset > XSTATE_BV_AT && offset < size ? offset : size;
}

static void fill_xstate(const struct arch_context *context, uint8_t *to)
{
	size_t size = frame_xstate_size(context->xstate, context->xstate_size);
	const uint32_t magic2 = XSTATE_MAGIC2;
	struct software_bytes software = {.magic1 = XSTATE_MAGIC1,
					  .extended_size = (uint32_t)(size + sizeof(magic2)),
					  .size = (uint32_t)size};

	memcpy(to, context->xstate, context->xstate_size);
	/* XCR0, which the regset stores here */
	memcpy(&software.features, to + FXSAVE_SOFTWARE_AT, sizeof(software.features));
	if (size < context->xstate_size)
		software.features &= ~(1ull << FEATURE_TILE_DATA);
	memcpy(to + FXSAVE_SOFTWARE_AT, &software, sizeof(software));
	memcpy(to + size, &magic2, sizeof(magic2));
	memcpy(to + context->xstate_size, &magic2, sizeof(magic2));
}

int arch_build_guard(const struct arch_context *context, const struct arch_sigreturn *sigreturn,
		     struct arch_guard *out_guard)
{
	const uint64_t load[] = {sigreturn->load, SYS_rt_sigreturn};
	const size_t load_size = sigreturn->load ? sizeof(load) : 0;
	struct arch_regs restored = context->regs;
	ucontext_t ucontext = {.uc_flags = CONTEXT_FLAGS, .uc_stack.ss_flags = INVALID_STACK_FLAGS};
	uint64_t xstate_at;
	uint8_t *frame;

	if (context->xstate_size < XSTATE_BV_AT + XSTATE_ALIGN ||
	    context->xstate_size > ARCH_XSTATE_MAX)
		return -E2BIG;
	arch_resolve_restart(&restored);
	xstate_at = (restored.user.rsp - ARCH_RED_ZONE - context->xstate_size - sizeof(uint32_t)) &
		    ~(uint64_t)(XSTATE_ALIGN - 1);
	out_guard->at = ((xstate_at - ARCH_GUARD_HEAD) & ~15ull) - sizeof(uint64_t) - load_size;
	out_guard->size = xstate_at - out_guard->at + context->xstate_size + sizeof(uint32_t);

	fill_registers(&restored.user, ucontext.uc_mcontext.gregs);
	memcpy(&ucontext.uc_mcontext.fpregs, &xstate_at, sizeof(xstate_at));
	memset(out_guard->frame, 0, xstate_at - out_guard->at);
	memcpy(out_guard->frame, load, load_size);
	frame = out_guard->frame + load_size;
	memcpy(frame, &sigreturn->code, sizeof(sigreturn->code));
	memcpy(frame + CONTEXT_AT, &ucontext, SIGMASK_AT - CONTEXT_AT);
	memcpy(frame + SIGMASK_AT, &context->sigmask, SIGMASK_BYTES);
	fill_xstate(context, out_guard->frame + (xstate_at - out_guard->at));

	/*
	 * Resting: the state after that `ret`. The thread must be in no system call, or the kernel
	 * would "restart" the injector's call by moving rip back two bytes.
	 */
	out_guard->resting = context->regs;
	out_guard->resting.user.rip = arch_sigreturn_begin(sigreturn);
	out_guard->resting.user.rsp = out_guard->at + sizeof(uint64_t);
	out_guard->resting.user.orig_rax = (uint64_t)-1;
	out_guard->resting.user.eflags &= ~FLAGS_CLEARED;
	return 0;
}

/*
 * The gadget's `ret` finds the address of the code in the word below the guard frame, and the
 * code's `ret` finds the frame's first word.
 */
void arch_rest_through(struct arch_regs *resting, uint64_t frame,
		       const struct arch_sigreturn *sigreturn, uint64_t code,
		       struct arch_word *out_word)
{
	*out_word = (struct arch_word){.at = code ? frame - sizeof(code) : 0, .value = code};
	resting->user.rip = code ? code : arch_sigreturn_begin(sigreturn);
	resting->user.rsp = code ? frame : frame + sizeof(uint64_t);
}

void arch_build_return(uint64_t stack_top, const uint8_t head[ARCH_GUARD_HEAD],
		       const struct arch_sigreturn *sigreturn, const uint64_t code[2],
		       struct arch_return *out_return)
{
	size_t used = 0, taken = sizeof(uint64_t);

	/* the alignment at the first instruction of any function */
	out_return->at = ((stack_top - ARCH_GUARD_HEAD - 32) & ~15ull) + 8;
	for (size_t i = 0; i < 2; i++)
		if (code[i]) {
			memcpy(out_return->byte + used, &code[i], sizeof(code[i]));
			used += sizeof(code[i]);
		}
	memcpy(out_return->byte + used, head, ARCH_GUARD_HEAD);
	out_return->size = used + ARCH_GUARD_HEAD;
	/* code[1] makes no system call, and its `ret` takes one more word; so does what loads */
	if (!code[0] && code[1])
		taken += sizeof(uint64_t);
	if (!code[0] && sigreturn->load)
		taken += 2 * sizeof(uint64_t);
	out_return->returned_sp = out_return->at + taken;
}
