/* SPDX-License-Identifier: MIT */
/* derived_code.h - x86-64: functions for derived_rows_test, and their rows. */
#ifndef HI_DERIVED_CODE_H
#define HI_DERIVED_CODE_H

#define CODE(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

UNIT_TEST(pushes_and_pops_are_followed_on_both_branches)
{
	/*
	 * push %rbx; push %rbp; sub $24,%rsp; test %eax,%eax; je 1f; add $24,%rsp; pop %rbp; pop
	 * %rbx; ret; 1: lea 24(%rsp),%rsp; pop %rbp; pop %rbx; ret
	 */
	check_code(CODE(0x53, 0x55, 0x48, 0x83, 0xec, 24, 0x85, 0xc0, 0x74, 7, 0x48, 0x83, 0xc4, 24,
			0x5d, 0x5b, 0xc3, 0x48, 0x8d, 0x64, 0x24, 24, 0x5d, 0x5b, 0xc3),
		   ROWS({0, HI_UNWIND_SP, 1, 0}, {1, HI_UNWIND_SP, 2, 0}, {2, HI_UNWIND_SP, 3, -3},
			{5, HI_UNWIND_SP, 3, -3}, {6, HI_UNWIND_SP, 6, -3},
			{14, HI_UNWIND_SP, 3, -3}, {15, HI_UNWIND_SP, 2, 0},
			{16, HI_UNWIND_SP, 1, 0}, {17, HI_UNWIND_SP, 6, -3},
			{24, HI_UNWIND_SP, 1, 0}));
}

UNIT_TEST(what_does_not_add_up_has_no_rows)
{
	/*
	 * push %rbx; ret -- push %rbx; je to the ret -- an unknown stack pointer -- an instruction
	 * that does not exist -- rbp not restored
	 */
	check_code(CODE(0x53, 0xc3), ROWS({0, HI_UNWIND_NONE, 0, 0}, {1, HI_UNWIND_NONE, 0, 0}));
	check_code(CODE(0x74, 1, 0x53, 0x5b, 0xc3),
		   ROWS({0, HI_UNWIND_NONE, 0, 0}, {4, HI_UNWIND_NONE, 0, 0}));
	check_code(CODE(0x48, 0x89, 0xc4, 0xc3), ROWS({0, HI_UNWIND_NONE, 0, 0}));
	check_code(CODE(0x50, 0x06, 0x58, 0xc3), ROWS({0, HI_UNWIND_NONE, 0, 0}));
	check_code(CODE(0x55, 0x58, 0xc3), ROWS({0, HI_UNWIND_NONE, 0, 0}));
	/* Cut off: at its end, and within an instruction. */
	check_code(CODE(0x53, 0x48, 0x83), ROWS({0, HI_UNWIND_NONE, 0, 0}));
}

UNIT_TEST(a_frame_pointer_holds_where_the_stack_pointer_is_lost)
{
	/* push %rbp; mov %rsp,%rbp; sub %rax,%rsp; nop; leave; ret */
	check_code(CODE(0x55, 0x48, 0x89, 0xe5, 0x48, 0x29, 0xc4, 0x90, 0xc9, 0xc3),
		   ROWS({4, HI_UNWIND_SP, 2, -2}, {7, HI_UNWIND_BP, 2, -2},
			{8, HI_UNWIND_BP, 2, -2}, {9, HI_UNWIND_SP, 1, 0}));
	/* The same with another value in rbp: then nothing is known. */
	check_code(CODE(0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xc5, 8, 0x48, 0x29, 0xc4, 0xc9, 0xc3),
		   ROWS({0, HI_UNWIND_NONE, 0, 0}));
}

UNIT_TEST(the_outermost_function_says_so)
{
	/* xor %ebp,%ebp; and $-16,%rsp; call .+5; hlt */
	check_code(CODE(0x31, 0xed, 0x48, 0x83, 0xe4, 0xf0, 0xe8, 0, 0, 0, 0, 0xf4),
		   ROWS({2, HI_UNWIND_END, 0, 0}, {10, HI_UNWIND_END, 0, 0}));
	/* push %rbp; xor %ebp,%ebp; pop %rbp; ret: a variable */
	check_code(CODE(0x55, 0x31, 0xed, 0x5d, 0xc3), ROWS({3, HI_UNWIND_SP, 2, -2}));
}

UNIT_TEST(behind_a_call_that_does_not_return_another_function_begins)
{
	/*
	 * push %rbx; je 1f; pop %rbx; ret; 1: call 2f; nop; 2: ret, which is a function since it is
	 * called
	 */
	check_code(CODE(0x53, 0x74, 2, 0x5b, 0xc3, 0xe8, 1, 0, 0, 0, 0x90, 0xc3),
		   ROWS({5, HI_UNWIND_SP, 2, 0}, {11, HI_UNWIND_SP, 1, 0}));
	/*
	 * The same, and the function is called by nobody, but begins behind the padding: its return
	 * does not fit, and it costs only itself.
	 */
	check_code(CODE(0x53, 0x74, 2, 0x5b, 0xc3, 0xe8, 0, 1, 0, 0, 0x90, 0xc3),
		   ROWS({5, HI_UNWIND_SP, 2, 0}, {11, HI_UNWIND_NONE, 0, 0}));
}

UNIT_TEST(the_trampoline_behind_a_handler_is_found)
{
	/* A function; lea of the trampoline: mov $15,%rax; syscall */
	check_code(CODE(0x48, 0x8d, 0x05, 2, 0, 0, 0, 0xc3, 0x90, 0x48, 0xc7, 0xc0, 15, 0, 0, 0,
			0x0f, 0x05, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90),
		   ROWS({7, HI_UNWIND_SP, 1, 0}, {8, HI_UNWIND_SIGNAL, 0, 0},
			{9, HI_UNWIND_SIGNAL, 0, 0}));
}

#endif
