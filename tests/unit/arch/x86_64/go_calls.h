/* SPDX-License-Identifier: MIT */
/* go_calls.h - x86-64: how Go gets its stack back after a call of C, for go_rows_test. */
#ifndef HI_GO_CALLS_H
#define HI_GO_CALLS_H

UNIT_TEST(a_call_of_c_comes_back_from_another_stack)
{
	/*
	 * call *%rax; mov 0x30(%rsp),%rdi; mov 8(%rdi),%rsi; sub 0x28(%rsp),%rsi; and where Go was
	 * on that stack already: call *%rax; mov 0x28(%rsp),%rsi; mov %rsi,%rsp
	 */
	static const uint8_t other[] = {0xff, 0xd0, 0x48, 0x8b, 0x7c, 0x24, 0x30, 0x48,
					0x8b, 0x77, 0x08, 0x48, 0x2b, 0x74, 0x24, 0x28},
			     same[] = {0xff, 0xd0, 0x48, 0x8b, 0x74, 0x24, 0x28, 0x48, 0x89, 0xf4};
	struct made_go_table table = {0};

	memset(code_bytes, 0x90, sizeof(code_bytes));
	memcpy(code_bytes + 0x20, other, sizeof(other));
	memcpy(code_bytes + 0x40, same, sizeof(same));
	made_go_function(&table, 0x10, "runtime.asmcgocall", "\x02\x40", 2);
	const struct go_code code = finish(&table, 0x60);

	CHECK_ROWS(code, {0x10, HI_UNWIND_NONE, 0},
		   {0x21, HI_UNWIND_OTHER_STACK, HI_UNWIND_PAIR(5, 6)}, {0x22, HI_UNWIND_NONE, 0},
		   {0x41, HI_UNWIND_SPILLED, HI_UNWIND_PAIR(5, 1)}, {0x42, HI_UNWIND_NONE, 0},
		   {0x60, HI_UNWIND_NONE, 0});
}

/* Go 1.22 and later: a distance of 0, and thread-local storage loaded first. */
UNIT_TEST(a_call_of_c_by_a_later_version)
{
	static const uint8_t later[] = {0xe8, 0,    0,    0,    0,    0x64, 0x48, 0x8b, 0x0c,
					0x25, 0xf8, 0xff, 0xff, 0xff, 0x48, 0x8b, 0x7c, 0x24,
					0x08, 0x48, 0x8b, 0x77, 0x08, 0x48, 0x2b, 0x34, 0x24};
	struct made_go_table table = {.is_1_20 = true};

	memset(code_bytes, 0x90, sizeof(code_bytes));
	memcpy(code_bytes + 0x20, later, sizeof(later));
	made_go_function(&table, 0x10, "runtime.asmcgocall", "\x02\x40", 2);
	const struct go_code code = finish(&table, 0x60);

	CHECK_ROWS(code, {0x10, HI_UNWIND_NONE, 0},
		   {0x24, HI_UNWIND_OTHER_STACK, HI_UNWIND_PAIR(0, 1)}, {0x25, HI_UNWIND_NONE, 0},
		   {0x60, HI_UNWIND_NONE, 0});
}

#endif
