/* SPDX-License-Identifier: MIT */
/*
 * guard_test.c - the CPU's contract: what the guard frame looks like, and what becomes of
 * interrupted system calls. That the kernel accepts the frame is shown by remote_test.
 */
#include "arch.h"

#include <errno.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "unit.h"

enum { SIGRETURN = 0x7000, XSTATE_BYTES = 2432, ERESTARTNOHAND = 514, ERESTART_RESTARTBLOCK = 516 };

static _Alignas(64) uint8_t xstate[XSTATE_BYTES];

static struct arch_context some_context(void)
{
	struct arch_context context = {
		.xstate = xstate, .xstate_size = sizeof(xstate), .sigmask = 0x1234};

	context.regs.user.rsp = 0x7ffd12345678;
	context.regs.user.rip = 0x401002;
	context.regs.user.rbx = 42;
	context.regs.user.eflags = 0x602; /* with the direction flag */
	context.regs.user.orig_rax = (uint64_t)-1;
	return context;
}

static uint64_t word_at(const struct arch_guard *guard, size_t offset)
{
	uint64_t word;

	CHECK(offset + sizeof(word) <= guard->size);
	memcpy(&word, guard->frame + offset, sizeof(word));
	return word;
}

static const struct arch_sigreturn returning = {.code = SIGRETURN};

static uint64_t saved_register(const struct arch_guard *guard, int number)
{
	return word_at(guard, 8 + offsetof(ucontext_t, uc_mcontext.gregs) + 8 * (size_t)number);
}

UNIT_TEST(guard_lies_below_the_red_zone)
{
	static struct arch_guard guard;
	struct arch_context context = some_context();
	uint64_t sp = context.regs.user.rsp;

	for (uint64_t shift = 0; shift < 64; shift += 8) {
		context.regs.user.rsp = sp + shift;
		CHECK_EQ(arch_build_guard(&context, &returning, &guard), 0);
		CHECK(guard.at + guard.size <= sp + shift - ARCH_RED_ZONE);
		CHECK(guard.size <= ARCH_GUARD_MAX);
		CHECK_EQ((guard.at + 8) % 16, 0);
	}
}

UNIT_TEST(guard_leads_into_sigreturn_and_back)
{
	static struct arch_guard guard;
	struct arch_context context = some_context();

	CHECK_EQ(arch_build_guard(&context, &returning, &guard), 0);
	CHECK_EQ(word_at(&guard, 0), SIGRETURN);
	CHECK_EQ(saved_register(&guard, REG_RIP), 0x401002);
	CHECK_EQ(saved_register(&guard, REG_RSP), 0x7ffd12345678);
	CHECK_EQ(saved_register(&guard, REG_RBX), 42);
	CHECK_EQ(saved_register(&guard, REG_EFL), 0x602);
	CHECK_EQ(word_at(&guard, 8 + offsetof(ucontext_t, uc_sigmask)), 0x1234);
	CHECK_EQ(arch_pc(&guard.resting), SIGRETURN);
	CHECK_EQ(arch_sp(&guard.resting), guard.at + 8);
	CHECK_EQ(guard.resting.user.eflags & 0x400, 0);
}

/* The same two words lower, and the first two lead there. */
UNIT_TEST(guard_of_a_program_without_such_code_loads_the_number)
{
	static struct arch_guard guard, plain;
	const struct arch_sigreturn loaded = {.code = 0x5000, .load = 0x6000};
	struct arch_context context = some_context();

	CHECK_EQ(arch_build_guard(&context, &returning, &plain), 0);
	CHECK_EQ(arch_build_guard(&context, &loaded, &guard), 0);
	CHECK_EQ(word_at(&guard, 0), 0x6000);
	CHECK_EQ(word_at(&guard, 8), SYS_rt_sigreturn);
	CHECK_EQ(word_at(&guard, 16), 0x5000);
	CHECK_EQ(guard.at % 16, plain.at % 16);
	CHECK(!memcmp(guard.frame + 24, plain.frame + 8, ARCH_GUARD_HEAD - 24 - 16));
	CHECK_EQ(arch_pc(&guard.resting), 0x6000);
	CHECK_EQ(arch_sp(&guard.resting), guard.at + 8);
}

UNIT_TEST(system_call_from_the_guard_returns_onto_it)
{
	static struct arch_guard guard;
	struct arch_context context = some_context();
	const uint64_t argument[6] = {1, 2, 3, 4, 5, 6};

	CHECK_EQ(arch_build_guard(&context, &returning, &guard), 0);
	struct arch_regs regs = guard.resting;
	arch_begin_syscall(&regs, 0x5000, SYS_mmap, argument);
	CHECK_EQ(arch_pc(&regs), 0x5000);
	CHECK_EQ(arch_sp(&regs), guard.at);
	CHECK_EQ(arch_result(&regs), SYS_mmap);
	CHECK_EQ(regs.user.orig_rax, -1);
}

UNIT_TEST(guard_refuses_state_that_it_does_not_know)
{
	static struct arch_guard guard;
	struct arch_context context = some_context();

	context.xstate_size = ARCH_XSTATE_MAX + 1;
	CHECK_EQ(arch_build_guard(&context, &returning, &guard), -E2BIG);
	context.xstate_size = 512;
	CHECK_EQ(arch_build_guard(&context, &returning, &guard), -E2BIG);
}

static struct arch_regs in_call(long number, int64_t result)
{
	struct arch_regs regs = {
		.user = {.rip = 0x1002, .orig_rax = (uint64_t)number, .rax = (uint64_t)result}};

	return regs;
}

UNIT_TEST(interrupted_calls_are_left_to_the_kernel)
{
	struct arch_regs regs = in_call(SYS_epoll_wait, -EINTR);

	CHECK(arch_rewind_interrupted(&regs, NULL));
	CHECK_EQ(regs.user.rax, -ERESTARTNOHAND);
	CHECK_EQ(regs.user.rip, 0x1002);

	regs = in_call(SYS_close, -EINTR); /* done in spite of the error */
	CHECK(!arch_rewind_interrupted(&regs, NULL));
	regs = in_call(SYS_epoll_wait, -EBADF);
	CHECK(!arch_rewind_interrupted(&regs, NULL));
	regs = in_call(-1, -EINTR);
	CHECK(!arch_rewind_interrupted(&regs, NULL));
}

UNIT_TEST(restarts_are_resolved_where_the_kernel_does_not)
{
	static const int codes[] = {512, 513, ERESTARTNOHAND, ERESTART_RESTARTBLOCK};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		struct arch_regs regs = in_call(SYS_poll, -codes[i]);

		arch_resolve_restart(&regs);
		CHECK_EQ(regs.user.rip, 0x1000);
		CHECK_EQ(regs.user.rax, SYS_poll);
		CHECK_EQ(regs.user.orig_rax, -1);
	}
	struct arch_regs done = in_call(SYS_poll, 1), running = in_call(-1, -512);
	arch_resolve_restart(&done);
	CHECK_EQ(done.user.rip, 0x1002);
	arch_resolve_restart(&running);
	CHECK_EQ(running.user.rip, 0x1002);
}

UNIT_TEST(gadgets_are_found)
{
	static const uint8_t syscall_ret[] = {0x90, 0x0f, 0x05, 0x90, 0x0f, 0x05, 0xc3};
	static const uint8_t glibc[] = {0x90, 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	static const uint8_t other[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
	static const uint8_t load[] = {0x58, 0x90, 0x58, 0xc3};

	CHECK_EQ(arch_find_syscall_ret(syscall_ret, sizeof(syscall_ret)), 4);
	CHECK_EQ(arch_find_syscall_ret(syscall_ret, sizeof(syscall_ret) - 1), -1);
	CHECK_EQ(arch_find_sigreturn(glibc, sizeof(glibc)), 1);
	CHECK_EQ(arch_find_sigreturn(glibc, sizeof(glibc) - 1), -1);
	CHECK_EQ(arch_find_sigreturn(other, sizeof(other)), 0);
	CHECK_EQ(arch_find_load(load, sizeof(load)), 2);
	CHECK_EQ(arch_find_load(load, sizeof(load) - 1), -1);
}

UNIT_TEST(registers_by_dwarf_number)
{
	struct arch_regs regs = {.user = {.rbx = 3, .rsp = 7, .rip = 16, .rdi = 5, .r15 = 15}};
	uint64_t value;

	CHECK_EQ(arch_dwarf_register(&regs, 3, &value), 0);
	CHECK_EQ(value, 3);
	CHECK_EQ(arch_dwarf_register(&regs, 5, &value), 0);
	CHECK_EQ(value, 5);
	CHECK_EQ(arch_dwarf_register(&regs, 7, &value), 0);
	CHECK_EQ(value, 7);
	CHECK_EQ(arch_dwarf_register(&regs, 16, &value), 0);
	CHECK_EQ(value, 16);
	CHECK_EQ(arch_dwarf_register(&regs, 17, &value), -EINVAL);
	CHECK_EQ(arch_dwarf_register(&regs, -1, &value), -EINVAL);
	CHECK(arch_any_register_in(&regs, 15, 16));
	CHECK(arch_any_register_in(&regs, 16, 17));
	CHECK(!arch_any_register_in(&regs, 17, 100));
}

UNIT_TEST(registers_are_replaced)
{
	struct arch_regs regs = {.user = {.r12 = 0x500, .rbx = 0x500, .r13 = 0x501}};

	CHECK_EQ(arch_replace_register(&regs, 0x500, 0x900), 2);
	CHECK_EQ(regs.user.r12, 0x900);
	CHECK_EQ(regs.user.rbx, 0x900);
	CHECK_EQ(regs.user.r13, 0x501);
	CHECK_EQ(arch_replace_register(&regs, 0x500, 0x900), 0);
}

UNIT_TEST(threads_in_plain_waits_are_preferred)
{
	CHECK(arch_borrow_score(SYS_futex) > arch_borrow_score(-1));
	CHECK(arch_borrow_score(-1) > arch_borrow_score(SYS_epoll_wait));
	CHECK(arch_borrow_score(SYS_epoll_wait) > arch_borrow_score(SYS_rt_sigtimedwait));
	CHECK(arch_borrow_score(SYS_rt_sigsuspend) >= 0);
	CHECK(arch_borrow_score(SYS_vfork) < 0);
}

UNIT_TEST(slot_relocations)
{
	bool is_jump_slot, is_absolute;

	CHECK(arch_is_slot_relocation(R_X86_64_JUMP_SLOT, &is_jump_slot, &is_absolute) &&
	      is_jump_slot && !is_absolute);
	CHECK(arch_is_slot_relocation(R_X86_64_GLOB_DAT, &is_jump_slot, &is_absolute) &&
	      !is_jump_slot && !is_absolute);
	CHECK(arch_is_slot_relocation(R_X86_64_64, &is_jump_slot, &is_absolute) && is_absolute);
	CHECK(!arch_is_slot_relocation(R_X86_64_RELATIVE, &is_jump_slot, &is_absolute));
}

UNIT_MAIN()
