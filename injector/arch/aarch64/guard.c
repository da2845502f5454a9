/* SPDX-License-Identifier: MIT */
/*
 * guard.c - aarch64: the guard frame, and what happens to a system call that the injector's stop
 * interrupted.
 *
 * The frame is what the kernel writes when it delivers a signal (arch/arm64/kernel/signal.c):
 *
 *       at + 0    siginfo            unused; its first word is the address of code that makes
 *                                    rt_sigreturn, for code as in arch_rest_through
 *       at + 128  ucontext           u64 flags, u64 link, stack_t, u64 sigmask, padding; then, 176
 *                                    bytes into it, struct sigcontext: general registers and room
 *       at + 592  that room          records, each with a magic number and its size: vector
 *                                    registers; SVE where the thread has more of them than that;
 *                                    two zeros. Records that need more room than there is follow
 *                                    an `extra' record and two zeros
 *
 * x30 leads to code that makes rt_sigreturn, and sp to the frame, whose address is a multiple of
 * 16. Nothing in a frame but the extra record depends on its address.
 *
 * The kernel has already moved pc back onto the instruction of a call that it restarts when it
 * reports a stop, so the registers are complete in themselves.
 */
#include "syscalls.h"

#include <asm/ptrace.h>
#include <asm/sigcontext.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "a64.h"

#define SIGINFO_BYTES 128
#define CONTEXT_AT SIGINFO_BYTES
#define STACK_FLAGS_AT (CONTEXT_AT + 24)
#define SIGMASK_AT (CONTEXT_AT + 40)
#define MACHINE_AT (CONTEXT_AT + 176)
#define RECORDS_AT (MACHINE_AT + (int)offsetof(struct sigcontext, __reserved))
#define FPSIMD_AT RECORDS_AT
#define MORE_AT (FPSIMD_AT + (int)sizeof(struct fpsimd_context))
#define RECORDS_END (RECORDS_AT + (int)sizeof(((struct sigcontext *)NULL)->__reserved))
#define TERMINATOR_BYTES 16 /* a record of zeros, and to the next multiple */
#define EXTRA_END (MORE_AT + (int)sizeof(struct extra_context) + TERMINATOR_BYTES)

_Static_assert(RECORDS_AT == 592 && MORE_AT % 16 == 0 && EXTRA_END % 16 == 0,
	       "as in the kernel's struct rt_sigframe");
_Static_assert(EXTRA_END + SVE_SIG_CONTEXT_SIZE(SVE_VQ_MAX < 16 ? SVE_VQ_MAX : 16) +
			       TERMINATOR_BYTES <=
		       ARCH_GUARD_MAX,
	       "vectors of 256 bytes");

/*
 * The kernel's restore_altstack() ignores an invalid stack_t. So the thread's alternate stack,
 * which the injector does not know, stays as it is.
 */
#define INVALID_STACK_FLAGS 0x7fffffff

/* Must not be set when injected code begins: single-stepping, and what BTI expects of a target. */
#define PSTATE_CLEARED (1ull << 21 | 3ull << 10)

#define LINK 30

/* Was the thread blocked in that call before the stop, and has not moved since? */
static bool is_same_call(const struct user_regs_struct *user, const struct arch_call *before,
			 uint64_t pc)
{
	return before && before->is_known && (uint64_t)before->number == user->regs[8] &&
	       before->sp == user->sp && before->pc == pc;
}

/* The result has taken the place of the first argument. */
bool arch_rewind_interrupted(struct arch_regs *regs, const struct arch_call *before)
{
	struct user_regs_struct *user = &regs->user;

	if (user->regs[0] != (uint64_t)-EINTR || !is_same_call(user, before, user->pc) ||
	    !arch_is_repeatable(before->number))
		return false;
	user->regs[0] = before->first_argument;
	user->pc -= A64_BYTES;
	return true;
}

/*
 * signal(7), "never restarted". What waits under a mask of its own is not among them: which
 * handlers end it depends on that.
 */
static bool is_ended_by_handlers(const struct user_regs_struct *user, long number)
{
	switch (number) {
	case SYS_ppoll:
		return !user->regs[3];
	case SYS_pselect6:
		return !user->regs[5];
	case SYS_epoll_pwait:
	case 441: /* epoll_pwait2 */
		return !user->regs[4];
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_rt_sigtimedwait:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_io_getevents:
		return true;
	default:
		return false;
	}
}

/* The time that is left of a sleep has been stored at the stop. */
bool arch_end_rewound(struct arch_regs *regs, const struct arch_call *before)
{
	struct arch_regs then = *regs;

	if (regs->restarted)
		then.user.regs[8] = (uint64_t)regs->restarted;
	if (!is_same_call(&then.user, before, then.user.pc + A64_BYTES) ||
	    !is_ended_by_handlers(&then.user, before->number))
		return false;
	then.user.regs[0] = (uint64_t)-EINTR;
	then.user.pc += A64_BYTES;
	*regs = then;
	return true;
}

/*
 * The kernel makes restart_syscall of it when the thread goes on from the stop, unless it finds
 * another pc then. The others that it can do that with are given back with all of their time.
 *
 * So it does with what is restart_syscall already, as another stop has left it, and that changes
 * x8. A call of ours must not begin from there: its instruction may be the very one that the thread
 * waits at, which in programs with musl is followed by a return.
 */
bool arch_needs_restart(const struct arch_regs *regs, const struct arch_call *before)
{
	const struct user_regs_struct *user = &regs->user;

	return is_same_call(user, before, user->pc + A64_BYTES) &&
	       (before->number == SYS_nanosleep || before->number == SYS_clock_nanosleep ||
		before->number == SYS_futex || before->number == SYS_restart_syscall);
}

/* pc is on the instruction already. x7 is not the program's at the entry of a call. */
void arch_take_restart(struct arch_regs *regs, const struct arch_regs *at_entry)
{
	regs->restarted = (int32_t)regs->user.regs[8];
	regs->user.regs[8] = at_entry->user.regs[8];
}

/* The kernel has done so. */
void arch_resolve_restart(struct arch_regs *regs)
{
	(void)regs;
}

/* ---- the extended state ---------------------------------------------------------------------- */

/* The regset NT_ARM_SVE, or NULL where the kernel has only NT_PRFPREG. */
static const struct user_sve_header *sve_header(const struct arch_context *context)
{
	return context->xstate_size > sizeof(struct user_fpsimd_state) ? context->xstate : NULL;
}

static bool has_sve(const struct user_sve_header *sve)
{
	return sve && (sve->flags & SVE_PT_REGS_MASK) == SVE_PT_REGS_SVE;
}

static size_t sve_record_size(const struct user_sve_header *sve)
{
	return (SVE_SIG_CONTEXT_SIZE(sve_vq_from_vl(sve->vl)) + 15) & ~15ul;
}

static bool is_known(const struct arch_context *context)
{
	const struct user_sve_header *sve = sve_header(context);

	if (context->xstate_size < sizeof(struct user_fpsimd_state) ||
	    context->xstate_size > ARCH_XSTATE_MAX)
		return false;
	if (!sve)
		return true;
	if (!has_sve(sve))
		return context->xstate_size >=
		       SVE_PT_FPSIMD_OFFSET + sizeof(struct user_fpsimd_state);
	return sve_vl_valid(sve->vl) && sve->vl <= 256 &&
	       context->xstate_size >= SVE_PT_SIZE(sve_vq_from_vl(sve->vl), SVE_PT_REGS_SVE);
}

/* The lower halves of the vectors, which the kernel wants in any case. */
static void fill_fpsimd(const struct arch_context *context, uint8_t *frame)
{
	const struct user_sve_header *sve = sve_header(context);
	const uint8_t *state = context->xstate;
	struct fpsimd_context record = {.head = {FPSIMD_MAGIC, sizeof(record)}};

	if (has_sve(sve)) {
		const unsigned vq = sve_vq_from_vl(sve->vl);

		for (unsigned i = 0; i < 32; i++)
			memcpy(&record.vregs[i], state + SVE_PT_SVE_ZREG_OFFSET(vq, i),
			       sizeof(record.vregs[i]));
		memcpy(&record.fpsr, state + SVE_PT_SVE_FPSR_OFFSET(vq), sizeof(record.fpsr));
		memcpy(&record.fpcr, state + SVE_PT_SVE_FPCR_OFFSET(vq), sizeof(record.fpcr));
	} else {
		struct user_fpsimd_state simd;

		memcpy(&simd, state + (sve ? SVE_PT_FPSIMD_OFFSET : 0), sizeof(simd));
		memcpy(record.vregs, simd.vregs, sizeof(record.vregs));
		record.fpsr = simd.fpsr;
		record.fpcr = simd.fpcr;
	}
	memcpy(frame + FPSIMD_AT, &record, sizeof(record));
}

/* Both keep the registers in the same order, behind heads of the same size. */
static void fill_sve(const struct user_sve_header *sve, uint8_t *to)
{
	const unsigned vq = sve_vq_from_vl(sve->vl);
	const struct sve_context record = {.head = {SVE_MAGIC, (uint32_t)sve_record_size(sve)},
					   .vl = sve->vl};

	memcpy(to, &record, sizeof(record));
	memcpy(to + SVE_SIG_REGS_OFFSET, (const uint8_t *)sve + SVE_PT_SVE_OFFSET,
	       SVE_SIG_REGS_SIZE(vq));
}

/* Stores where the records are that did not fit, in a frame at this address. */
static void set_extra(uint8_t *frame, uint64_t at)
{
	struct extra_context extra;

	memcpy(&extra, frame + MORE_AT, sizeof(extra));
	if (extra.head.magic != EXTRA_MAGIC)
		return;
	extra.datap = at + EXTRA_END;
	memcpy(frame + MORE_AT, &extra, sizeof(extra));
}

/* Returns the size of the frame. */
static size_t fill_more(const struct arch_context *context, uint8_t *frame)
{
	const struct user_sve_header *sve = sve_header(context);
	size_t size;

	if (!has_sve(sve))
		return RECORDS_END;
	size = sve_record_size(sve);
	if (MORE_AT + size + TERMINATOR_BYTES <= RECORDS_END) {
		fill_sve(sve, frame + MORE_AT);
		return RECORDS_END;
	}
	const struct extra_context extra = {.head = {EXTRA_MAGIC, sizeof(extra)},
					    .size = (uint32_t)(size + TERMINATOR_BYTES)};

	memcpy(frame + MORE_AT, &extra, sizeof(extra));
	fill_sve(sve, frame + EXTRA_END);
	return EXTRA_END + size + TERMINATOR_BYTES;
}

/* ---- the frame ------------------------------------------------------------------------------- */

/*
 * rt_sigreturn makes the kernel forget what is left of a sleep: restart_syscall would then fail
 * with EINTR. So the frame has the call itself, which begins anew with all of its time.
 */
static void fill_registers(const struct arch_regs *regs, uint8_t *frame)
{
	const struct user_regs_struct *user = &regs->user;
	struct sigcontext machine = {.sp = user->sp, .pc = user->pc, .pstate = user->pstate};

	memcpy(machine.regs, user->regs, sizeof(machine.regs));
	if (regs->restarted)
		machine.regs[8] = (uint64_t)regs->restarted;
	memcpy(frame + MACHINE_AT, &machine, offsetof(struct sigcontext, __reserved));
}

int arch_build_guard(const struct arch_context *context, const struct arch_sigreturn *sigreturn,
		     struct arch_guard *out_guard)
{
	const int32_t stack_flags = INVALID_STACK_FLAGS;
	uint8_t *frame = out_guard->frame;

	if (!is_known(context))
		return -E2BIG;
	memset(frame, 0, sizeof(out_guard->frame));
	memcpy(frame, &sigreturn->code, sizeof(sigreturn->code));
	memcpy(frame + STACK_FLAGS_AT, &stack_flags, sizeof(stack_flags));
	memcpy(frame + SIGMASK_AT, &context->sigmask, sizeof(context->sigmask));
	fill_registers(&context->regs, frame);
	fill_fpsimd(context, frame);
	out_guard->size = fill_more(context, frame);
	out_guard->at = (context->regs.user.sp - out_guard->size) & ~15ull;
	set_extra(frame, out_guard->at);

	out_guard->resting = context->regs;
	out_guard->resting.user.pstate &= ~PSTATE_CLEARED;
	out_guard->resting.call = -1;
	arch_rest_through(&out_guard->resting, out_guard->at, sigreturn, 0, &(struct arch_word){0});
	return 0;
}

/* The code finds where to go next in the frame's first word. */
void arch_rest_through(struct arch_regs *resting, uint64_t frame,
		       const struct arch_sigreturn *sigreturn, uint64_t code,
		       struct arch_word *out_word)
{
	*out_word = (struct arch_word){.at = 0};
	resting->user.pc = resting->user.regs[LINK] = code ? code : sigreturn->code;
	resting->user.sp = frame;
}

/*
 * The function returns by x30, as the registers that rest have it, with sp at the copy. The result
 * is in x0 then, at the entry of rt_sigreturn or, before that, of no other call.
 */
void arch_build_return(uint64_t stack_top, const uint8_t head[ARCH_GUARD_HEAD],
		       const struct arch_sigreturn *sigreturn, const uint64_t code[2],
		       struct arch_return *out_return)
{
	(void)sigreturn, (void)code;
	out_return->at = (stack_top - ARCH_GUARD_HEAD) & ~15ull;
	out_return->returned_sp = out_return->at;
	out_return->size = ARCH_GUARD_HEAD;
	memcpy(out_return->byte, head, ARCH_GUARD_HEAD);
	set_extra(out_return->byte, out_return->at);
}
