/* SPDX-License-Identifier: MIT */
/*
 * guard_test.c - the CPU's contract: what the guard frame looks like, what becomes of interrupted
 * system calls, and which instructions are found. That the kernel accepts the frame is shown by
 * remote_test.
 */
#include "arch.h"

#include <asm/ptrace.h>
#include <asm/sigcontext.h>
#include <errno.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "unit.h"

enum { SIGRETURN = 0x7000, CONTEXT_AT = 128 };

static _Alignas(64) uint8_t xstate[ARCH_XSTATE_MAX];
static struct arch_guard guard;
static const struct arch_sigreturn returning = {.code = SIGRETURN};

static struct arch_context some_context(void)
{
	struct arch_context context = {.xstate = xstate,
				       .xstate_size = sizeof(struct user_fpsimd_state),
				       .sigmask = 0x1234};

	context.regs.user.sp = 0x7ffd12345678;
	context.regs.user.pc = 0x401004;
	context.regs.user.regs[19] = 42;
	context.regs.user.pstate = 0x80000c00; /* with what BTI expects */
	context.regs.call = -1;
	return context;
}

/* A regset NT_ARM_SVE with vectors of so many bytes, each byte of z0 a 1, of z1 a 2, and so on. */
static struct arch_context context_with_sve(unsigned bytes)
{
	struct arch_context context = some_context();
	struct user_sve_header head = {.vl = (uint16_t)bytes, .flags = SVE_PT_REGS_SVE};
	const unsigned vq = bytes / 16;

	memset(xstate, 0, sizeof(xstate));
	memcpy(xstate, &head, sizeof(head));
	for (unsigned i = 0; i < 32; i++)
		memset(xstate + SVE_PT_SVE_ZREG_OFFSET(vq, i), (int)i + 1, bytes);
	context.xstate_size = SVE_PT_SIZE(vq, SVE_PT_REGS_SVE);
	return context;
}

static uint64_t word_at(size_t offset)
{
	uint64_t word;

	CHECK(offset + sizeof(word) <= guard.size);
	memcpy(&word, guard.frame + offset, sizeof(word));
	return word;
}

/* The record of that kind, followed from one record to the next; its offset, or 0. */
static size_t record_at(const uint8_t *frame, size_t at, uint32_t magic, uint32_t *out_size)
{
	struct _aarch64_ctx head;

	for (;;) {
		memcpy(&head, frame + at, sizeof(head));
		*out_size = head.size;
		if (head.magic == magic)
			return at;
		if (!head.magic || !head.size)
			return 0;
		at += head.size;
	}
}

static size_t records(void)
{
	return CONTEXT_AT + offsetof(ucontext_t, uc_mcontext.__reserved);
}

UNIT_TEST(guard_lies_below_sp)
{
	struct arch_context context = some_context();
	const uint64_t sp = context.regs.user.sp;

	for (uint64_t shift = 0; shift < 64; shift += 8) {
		context.regs.user.sp = sp + shift;
		CHECK_EQ(arch_build_guard(&context, &returning, &guard), 0);
		CHECK(guard.at + guard.size <= sp + shift);
		CHECK(guard.size <= ARCH_GUARD_MAX);
		CHECK_EQ(guard.at % 16, 0);
	}
}

UNIT_TEST(guard_leads_into_sigreturn_and_back)
{
	const struct arch_context context = some_context();
	const size_t machine = CONTEXT_AT + offsetof(ucontext_t, uc_mcontext);
	uint32_t size;

	CHECK_EQ(arch_build_guard(&context, &returning, &guard), 0);
	CHECK_EQ(word_at(0), SIGRETURN);
	CHECK_EQ(word_at(machine + offsetof(mcontext_t, pc)), 0x401004);
	CHECK_EQ(word_at(machine + offsetof(mcontext_t, sp)), 0x7ffd12345678);
	CHECK_EQ(word_at(machine + offsetof(mcontext_t, regs[19])), 42);
	CHECK_EQ(word_at(machine + offsetof(mcontext_t, pstate)), 0x80000c00);
	CHECK_EQ(word_at(CONTEXT_AT + offsetof(ucontext_t, uc_sigmask)), 0x1234);
	CHECK_EQ(record_at(guard.frame, records(), FPSIMD_MAGIC, &size), records());
	CHECK_EQ(size, sizeof(struct fpsimd_context));
	CHECK_EQ(arch_pc(&guard.resting), SIGRETURN);
	CHECK_EQ(guard.resting.user.regs[30], SIGRETURN);
	CHECK_EQ(arch_sp(&guard.resting), guard.at);
	CHECK_EQ(guard.resting.user.pstate, 0x80000000);
	CHECK_EQ(guard.resting.call, -1);
}

/* Vectors up to 64 bytes fit into the frame. */
UNIT_TEST(guard_has_the_vectors_of_sve)
{
	const struct arch_context context = context_with_sve(64);
	uint32_t size;

	CHECK_EQ(arch_build_guard(&context, &returning, &guard), 0);
	const size_t simd = record_at(guard.frame, records(), FPSIMD_MAGIC, &size),
		     sve = record_at(guard.frame, records(), SVE_MAGIC, &size);

	CHECK(simd && sve && sve + size < guard.size);
	CHECK_EQ(guard.frame[simd + offsetof(struct fpsimd_context, vregs[5])], 6);
	CHECK_EQ(guard.frame[sve + SVE_SIG_ZREG_OFFSET(4, 5) + 63], 6);
	CHECK_EQ(guard.frame[sve + SVE_SIG_ZREG_OFFSET(4, 31)], 32);
}

/* Others follow the frame, and a copy of it says where they are behind the copy. */
UNIT_TEST(guard_has_vectors_that_do_not_fit)
{
	static struct arch_return back;
	const struct arch_context context = context_with_sve(256);
	struct extra_context extra;
	uint32_t size;

	CHECK_EQ(arch_build_guard(&context, &returning, &guard), 0);
	CHECK(guard.size <= ARCH_GUARD_MAX);
	const size_t at = record_at(guard.frame, records(), EXTRA_MAGIC, &size);

	CHECK(at);
	memcpy(&extra, guard.frame + at, sizeof(extra));
	CHECK_EQ(extra.datap, guard.at + at + sizeof(extra) + 16);
	CHECK_EQ(extra.datap % 16, 0);
	CHECK(extra.datap + extra.size <= guard.at + guard.size);
	const size_t sve = record_at(guard.frame, extra.datap - guard.at, SVE_MAGIC, &size);

	CHECK_EQ(sve, extra.datap - guard.at);
	CHECK_EQ(guard.frame[sve + SVE_SIG_ZREG_OFFSET(16, 31) + 255], 32);
	arch_build_return(0x500000, guard.frame, &returning, (const uint64_t[2]){0}, &back);
	memcpy(&extra, back.byte + at, sizeof(extra));
	CHECK_EQ(extra.datap, back.at + sve);
	CHECK_EQ(back.at % 16, 0);
	CHECK(back.at + back.size <= 0x500000);
}

/* What the kernel says of the size counts more than what it has written. */
UNIT_TEST(state_is_as_large_as_its_head_says)
{
	struct user_sve_header head = {.size = 544};

	memcpy(xstate, &head, sizeof(head));
	CHECK_EQ(arch_xstate_size(xstate, 8768), 544);
	CHECK_EQ(arch_xstate_size(xstate, 528), 528);
	head.size = 9000;
	memcpy(xstate, &head, sizeof(head));
	CHECK_EQ(arch_xstate_size(xstate, 8768), 8768);
}

/* To set that of SVE would cancel a vector length that is to be used after the next exec. */
UNIT_TEST(plain_vectors_are_set_as_such)
{
	const size_t plain = SVE_PT_FPSIMD_OFFSET + sizeof(struct user_fpsimd_state);
	struct user_sve_header head = {.size = (uint32_t)plain, .vl = 64};

	memcpy(xstate, &head, sizeof(head));
	struct arch_xstate_part part = arch_xstate_to_set(NT_ARM_SVE, xstate, plain);

	CHECK_EQ(part.type, NT_PRFPREG);
	CHECK_EQ(part.offset, SVE_PT_FPSIMD_OFFSET);
	CHECK_EQ(part.size, sizeof(struct user_fpsimd_state));
	part = arch_xstate_to_set(NT_PRFPREG, xstate, sizeof(struct user_fpsimd_state));
	CHECK_EQ(part.type, NT_PRFPREG);
	CHECK_EQ(part.offset, 0);
	CHECK_EQ(part.size, sizeof(struct user_fpsimd_state));
	head.flags = SVE_PT_REGS_SVE;
	memcpy(xstate, &head, sizeof(head));
	part = arch_xstate_to_set(NT_ARM_SVE, xstate, 2240);
	CHECK_EQ(part.type, NT_ARM_SVE);
	CHECK_EQ(part.offset, 0);
	CHECK_EQ(part.size, 2240);
}

UNIT_TEST(guard_refuses_state_that_it_does_not_know)
{
	struct arch_context context = some_context();

	context.xstate_size = ARCH_XSTATE_MAX + 1;
	CHECK_EQ(arch_build_guard(&context, &returning, &guard), -E2BIG);
	context.xstate_size = 512;
	CHECK_EQ(arch_build_guard(&context, &returning, &guard), -E2BIG);
	context = context_with_sve(256);
	context.xstate_size -= 16;
	CHECK_EQ(arch_build_guard(&context, &returning, &guard), -E2BIG);
}

UNIT_TEST(system_call_from_the_guard_returns_onto_it)
{
	const struct arch_context context = some_context();
	const uint64_t argument[6] = {1, 2, 3, 4, 5, 6};

	CHECK_EQ(arch_build_guard(&context, &returning, &guard), 0);
	struct arch_regs regs = guard.resting;
	arch_begin_syscall(&regs, 0x5000, SYS_mmap, argument);
	CHECK_EQ(arch_pc(&regs), 0x5000);
	CHECK_EQ(arch_sp(&regs), guard.at);
	CHECK_EQ(regs.user.regs[30], SIGRETURN);
	CHECK_EQ(regs.user.regs[8], SYS_mmap);
	CHECK_EQ(regs.user.regs[5], 6);
}

static struct arch_regs stopped_in(long number, int64_t first, uint64_t pc)
{
	struct arch_regs regs = {.user = {.sp = 0x9000, .pc = pc}, .call = -1};

	regs.user.regs[0] = (uint64_t)first;
	regs.user.regs[8] = (uint64_t)number;
	return regs;
}

static struct arch_call blocked_in(long number)
{
	return (struct arch_call){.is_known = true,
				  .number = number,
				  .first_argument = 7,
				  .sp = 0x9000,
				  .pc = 0x1004};
}

UNIT_TEST(interrupted_calls_get_their_argument_back)
{
	struct arch_call before = blocked_in(SYS_epoll_pwait);
	struct arch_regs regs = stopped_in(SYS_epoll_pwait, -EINTR, 0x1004);

	CHECK(arch_rewind_interrupted(&regs, &before));
	CHECK_EQ(regs.user.regs[0], 7);
	CHECK_EQ(regs.user.pc, 0x1000);

	regs = stopped_in(SYS_epoll_pwait, -EBADF, 0x1004);
	CHECK(!arch_rewind_interrupted(&regs, &before));
	regs = stopped_in(SYS_epoll_pwait, -EINTR, 0x1008);
	CHECK(!arch_rewind_interrupted(&regs, &before));
	regs = stopped_in(SYS_read, -EINTR, 0x1004);
	CHECK(!arch_rewind_interrupted(&regs, &before));
	before.is_known = false;
	regs = stopped_in(SYS_epoll_pwait, -EINTR, 0x1004);
	CHECK(!arch_rewind_interrupted(&regs, &before));
	before = blocked_in(SYS_close); /* done in spite of the error */
	regs = stopped_in(SYS_close, -EINTR, 0x1004);
	CHECK(!arch_rewind_interrupted(&regs, &before));
}

/* pause() is ppoll here. */
UNIT_TEST(calls_that_begin_anew_are_ended_by_handlers)
{
	static const struct {
		long number;
		unsigned mask; /* register that has the address of a signal mask; 0 = none has */
	} calls[] = {{SYS_ppoll, 3},           {SYS_pselect6, 5},  {SYS_epoll_pwait, 4},
		     {SYS_rt_sigtimedwait, 0}, {SYS_nanosleep, 0}, {SYS_clock_nanosleep, 0}};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const struct arch_call before = blocked_in(calls[i].number);
		struct arch_regs regs = stopped_in(calls[i].number, 7, 0x1000);

		CHECK(arch_end_rewound(&regs, &before));
		CHECK_EQ(regs.user.regs[0], (uint64_t)-EINTR);
		CHECK_EQ(regs.user.pc, 0x1004);
		CHECK(!arch_end_rewound(&regs, &before));
		regs = stopped_in(calls[i].number, 7, 0x1000);
		regs.user.regs[calls[i].mask] = 0x7000;
		CHECK_EQ(arch_end_rewound(&regs, &before), !calls[i].mask);
	}
}

/* Whether a handler ends it depends on the handler (SA_RESTART), or it is another call. */
UNIT_TEST(other_calls_begin_anew_after_handlers)
{
	struct arch_call before = blocked_in(SYS_read);
	struct arch_regs regs = stopped_in(SYS_read, 7, 0x1000);

	CHECK(!arch_end_rewound(&regs, &before));
	before = blocked_in(SYS_ppoll);
	CHECK(!arch_end_rewound(&regs, &before));
	regs = stopped_in(SYS_ppoll, 7, 0x2000);
	CHECK(!arch_end_rewound(&regs, &before));
	before.is_known = false;
	regs = stopped_in(SYS_ppoll, 7, 0x1000);
	CHECK(!arch_end_rewound(&regs, &before));
}

UNIT_TEST(sleeps_that_go_on_are_ended_by_handlers)
{
	const struct arch_call before = blocked_in(SYS_clock_nanosleep);
	const struct arch_regs at_entry = stopped_in(SYS_restart_syscall, 7, 0x1004);
	struct arch_regs regs = stopped_in(SYS_clock_nanosleep, 7, 0x1000);

	arch_take_restart(&regs, &at_entry);
	CHECK(arch_end_rewound(&regs, &before));
	CHECK_EQ(regs.user.regs[0], (uint64_t)-EINTR);
	CHECK_EQ(regs.user.regs[8], SYS_clock_nanosleep);
	CHECK_EQ(regs.user.pc, 0x1004);
}

UNIT_TEST(sleeps_go_on_with_the_time_that_is_left)
{
	const struct arch_call sleeping = blocked_in(SYS_nanosleep), reading = blocked_in(SYS_read);
	const struct arch_regs at_entry = stopped_in(SYS_restart_syscall, 7, 0x1004);
	struct arch_regs regs = stopped_in(SYS_nanosleep, 7, 0x1000);

	CHECK(arch_needs_restart(&regs, &sleeping));
	arch_take_restart(&regs, &at_entry);
	CHECK_EQ(regs.user.regs[8], SYS_restart_syscall);
	CHECK_EQ(regs.user.pc, 0x1000);
	regs = stopped_in(SYS_nanosleep, 0, 0x1004); /* it was over */
	CHECK(!arch_needs_restart(&regs, &sleeping));
	regs = stopped_in(SYS_read, 7, 0x1000);
	CHECK(!arch_needs_restart(&regs, &reading));
}

/* The kernel would put the number of that call into x8 once more, even of one that we begin there.
 */
UNIT_TEST(sleeps_that_go_on_are_run_to_their_entry)
{
	const struct arch_call sleeping = blocked_in(SYS_restart_syscall);
	const struct arch_regs regs = stopped_in(SYS_restart_syscall, 7, 0x1000),
			       over = stopped_in(SYS_restart_syscall, 0, 0x1004);

	CHECK(arch_needs_restart(&regs, &sleeping));
	CHECK(!arch_needs_restart(&over, &sleeping));
}

/* rt_sigreturn would make the kernel forget what is left: the frame has the call itself. */
UNIT_TEST(sleeps_begin_anew_after_the_death_of_the_injector)
{
	const struct arch_regs at_entry = stopped_in(SYS_restart_syscall, 7, 0x1004);
	const size_t eighth =
		CONTEXT_AT + offsetof(ucontext_t, uc_mcontext) + offsetof(mcontext_t, regs[8]);
	struct arch_context context = some_context();

	context.regs = stopped_in(SYS_clock_nanosleep, 7, 0x1000);
	arch_take_restart(&context.regs, &at_entry);
	CHECK_EQ(arch_build_guard(&context, &returning, &guard), 0);
	CHECK_EQ(context.regs.user.regs[8], SYS_restart_syscall);
	CHECK_EQ(word_at(eighth), SYS_clock_nanosleep);
}

/* The heads of NT_ARM_SSVE and NT_ARM_ZA. */
UNIT_TEST(registers_that_are_not_saved_are_seen)
{
	struct user_sve_header streaming = {.size = 16 + 528, .vl = 64};
	struct user_za_header za = {.size = ZA_PT_ZA_OFFSET, .vl = 64};

	CHECK(!arch_has_unsaved(NT_ARM_SSVE, (const uint8_t *)&streaming));
	streaming.flags = SVE_PT_REGS_SVE;
	CHECK(arch_has_unsaved(NT_ARM_SSVE, (const uint8_t *)&streaming));
	CHECK(!arch_has_unsaved(NT_ARM_ZA, (const uint8_t *)&za));
	za.size = ZA_PT_SIZE(4);
	CHECK(arch_has_unsaved(NT_ARM_ZA, (const uint8_t *)&za));
}

UNIT_TEST(gadgets_are_found)
{
	static const uint32_t syscall_ret[] = {0xd503201f, 0xd4000001, 0xd503201f, 0xd4000001,
					       0xd65f03c0},
			      vdso[] = {0xd503201f, 0xd2801168, 0xd4000001};

	CHECK_EQ(arch_find_syscall_ret((const uint8_t *)syscall_ret, sizeof(syscall_ret)), 12);
	CHECK_EQ(arch_find_syscall_ret((const uint8_t *)syscall_ret, sizeof(syscall_ret) - 1), -1);
	CHECK_EQ(arch_find_sigreturn((const uint8_t *)vdso, sizeof(vdso)), 4);
	CHECK_EQ(arch_find_sigreturn((const uint8_t *)vdso, sizeof(vdso) - 1), -1);
}

UNIT_TEST(registers_by_number)
{
	struct arch_regs regs = {.user = {.sp = 31, .pc = 32}};
	uint64_t value;

	regs.user.regs[30] = 30;
	CHECK(arch_dwarf_register(&regs, 30, &value) == 0 && value == 30);
	CHECK(arch_dwarf_register(&regs, 31, &value) == 0 && value == 31);
	CHECK(arch_dwarf_register(&regs, 32, &value) == 0 && value == 32);
	CHECK_EQ(arch_dwarf_register(&regs, 33, &value), -EINVAL);
	CHECK_EQ(arch_dwarf_register(&regs, -1, &value), -EINVAL);
	regs.user.regs[30] |= 0x2aull << 48; /* signed */
	CHECK(arch_any_register_in(&regs, 30, 31));
	CHECK(!arch_any_register_in(&regs, 33, 100));
	regs.user.regs[3] = regs.user.pc = 0x500;
	CHECK_EQ(arch_replace_register(&regs, 0x500, 0x900), 2);
	CHECK_EQ(regs.user.regs[3], 0x900);
}

UNIT_TEST(threads_in_plain_waits_are_preferred)
{
	CHECK(arch_borrow_score(SYS_futex) > arch_borrow_score(-1));
	CHECK(arch_borrow_score(-1) > arch_borrow_score(SYS_epoll_pwait));
	CHECK(arch_borrow_score(SYS_rt_sigsuspend) >= 0);
	CHECK(arch_borrow_score(SYS_clone) < 0); /* perhaps a parent that waits as after vfork */
}

UNIT_TEST(slot_relocations)
{
	bool is_jump_slot, is_absolute;

	CHECK(arch_is_slot_relocation(R_AARCH64_JUMP_SLOT, &is_jump_slot, &is_absolute) &&
	      is_jump_slot && !is_absolute);
	CHECK(arch_is_slot_relocation(R_AARCH64_GLOB_DAT, &is_jump_slot, &is_absolute) &&
	      !is_jump_slot && !is_absolute);
	CHECK(arch_is_slot_relocation(R_AARCH64_ABS64, &is_jump_slot, &is_absolute) && is_absolute);
	CHECK(!arch_is_slot_relocation(R_AARCH64_RELATIVE, &is_jump_slot, &is_absolute));
}

static struct arch_instruction decoded(const uint32_t *code, size_t count, uint64_t pc)
{
	struct arch_instruction out;

	CHECK(arch_decode((const uint8_t *)code, count * sizeof(*code), pc, &out));
	return out;
}

UNIT_TEST(instructions_lead_where_they_do)
{
	static const uint32_t
		call[] = {0x97ffffff},
		jump[] = {0x14000002}, by_register[] = {0xd63f0200}, leave[] = {0xd61f0220},
		ret[] = {0xd65f03c0}, branch[] = {0x54000041}, test_bit[] = {0x36000040},
		add[] = {0x91000400}, trap[] = {0xd4200020},
		/* adrp x16, +0x1f000; ldr x17, [x16, #0xfa8]; add x16, x16, #0xfa8; br x17 */
		plt[] = {0xf00000f0, 0xf947d611, 0x913ea210, 0xd61f0220};
	struct arch_instruction out = decoded(call, 1, 0x1000);

	CHECK(out.flow == ARCH_FLOW_CALL && out.target == 0xffc);
	out = decoded(jump, 1, 0x1000);
	CHECK(out.flow == ARCH_FLOW_JUMP && out.target == 0x1008 && !out.slot);
	out = decoded(by_register, 1, 0x1000);
	CHECK(out.flow == ARCH_FLOW_CALL && !out.target);
	out = decoded(leave, 1, 0x1000);
	CHECK(out.flow == ARCH_FLOW_JUMP && !out.target && !out.slot);
	CHECK(decoded(ret, 1, 0x1000).flow == ARCH_FLOW_RETURN);
	CHECK(decoded(branch, 1, 0x1000).target == 0x1008);
	out = decoded(test_bit, 1, 0x1000);
	CHECK(out.flow == ARCH_FLOW_BRANCH && out.target == 0x1008);
	CHECK(decoded(add, 1, 0x1000).flow == ARCH_FLOW_NEXT);
	CHECK(decoded(trap, 1, 0x1000).flow == ARCH_FLOW_STOP);
	out = decoded(plt, 4, 0x1010);
	CHECK(out.flow == ARCH_FLOW_JUMP && out.size == 16);
	CHECK_EQ(out.slot, 0x1000 + 0x1f000 + 0xfa8);
	CHECK(!arch_decode((const uint8_t *)plt, 3, 0x1010, &out));
}

UNIT_TEST(calls_are_told_by_their_last_instruction)
{
	CHECK(arch_ends_in_call((const uint8_t *)&(uint32_t){0x94000001}));
	CHECK(arch_ends_in_call((const uint8_t *)&(uint32_t){0xd63f0200}));
	CHECK(arch_ends_in_call((const uint8_t *)&(uint32_t){0xd73f0a11})); /* blraa */
	CHECK(!arch_ends_in_call((const uint8_t *)&(uint32_t){0x14000001}));
	CHECK(!arch_ends_in_call((const uint8_t *)&(uint32_t){0xd61f0200}));
}

UNIT_TEST(operands_are_found)
{
	const uint32_t code[] = {0xd503201f, 0xd503201f, 0x94000400, 0xd503201f};

	CHECK_EQ(arch_find_operand((const uint8_t *)code, 0, sizeof(code), 0x10000, 0x11000, 4096),
		 8);
	CHECK_EQ(arch_find_operand((const uint8_t *)code, 9, sizeof(code), 0x10000, 0x11000, 4096),
		 sizeof(code));
}

UNIT_TEST(jumps_reach_128_megabytes)
{
	uint8_t jump[ARCH_JUMP_BYTES];
	const uint64_t at = 1ull << 40;

	CHECK(arch_make_jump(jump, sizeof(jump), at, at + (1u << 27) - 4));
	CHECK_EQ(decoded((const uint32_t *)(const void *)jump, 1, at).target, at + (1u << 27) - 4);
	CHECK(!arch_make_jump(jump, sizeof(jump), at, at + (1u << 27)));
	CHECK(arch_make_jump(jump, sizeof(jump), at, at - (1u << 27)));
	CHECK(!arch_make_jump(jump, sizeof(jump), at, at - (1u << 27) - 4));
}

UNIT_MAIN()
