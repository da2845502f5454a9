/* SPDX-License-Identifier: MIT */
/*
 * stack_end: what tells the first function of a coroutine from a frame that nobody knows the way
 * out of. The code is made up, the memory this process's own.
 */
#include "stack_end.h"

#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "unit.h"

static struct memory memory;
static struct stack_ends ends;

static void prepare(void)
{
	CHECK_EQ(memory_open(&memory, getpid(), getpid()), 0);
	memset(&ends, 0, sizeof(ends));
}

static bool is_call(const char *bytes, size_t size)
{
	uint8_t before[ARCH_CALL_MAX];

	memset(before, 0x90, sizeof(before));
	memcpy(before + sizeof(before) - size, bytes, size);
	return arch_ends_in_call(before);
}
#define IS_CALL(bytes) is_call(bytes, sizeof(bytes) - 1)

UNIT_TEST(every_form_of_call_is_known)
{
	CHECK(IS_CALL("\xe8\x01\x02\x03\x04"));         /* call near */
	CHECK(IS_CALL("\xff\xd3"));                     /* call *%rbx */
	CHECK(IS_CALL("\x41\xff\xd4"));                 /* call *%r12 */
	CHECK(IS_CALL("\xff\x10"));                     /* call *(%rax) */
	CHECK(IS_CALL("\xff\x50\x18"));                 /* call *24(%rax) */
	CHECK(IS_CALL("\xff\x90\x00\x01\x00\x00"));     /* call *256(%rax) */
	CHECK(IS_CALL("\xff\x15\x10\x20\x00\x00"));     /* call *x(%rip) */
	CHECK(IS_CALL("\xff\x14\xd8"));                 /* call *(%rax,%rbx,8) */
	CHECK(IS_CALL("\xff\x14\xdd\x00\x10\x00\x00")); /* call *x(,%rbx,8) */
	CHECK(IS_CALL("\xff\x54\x24\x10"));             /* call *16(%rsp) */
	CHECK(IS_CALL("\xff\x94\x24\x10\x01\x00\x00")); /* call *272(%rsp) */
}

UNIT_TEST(jumps_and_returns_are_no_calls)
{
	CHECK(!IS_CALL("\xff\xe3"));                 /* jmp *%rbx */
	CHECK(!IS_CALL("\xff\x25\x10\x20\x00\x00")); /* jmp *x(%rip) */
	CHECK(!IS_CALL("\xe9\x01\x02\x03\x04"));     /* jmp near */
	CHECK(!IS_CALL("\xff\x90\x00\x01"));         /* the displacement is cut off */
	CHECK(!IS_CALL("\xc3"));
	CHECK(!IS_CALL("\x0f\x1f\x40\x00"));
	CHECK(!IS_CALL("\xff\x74\x24\x10")); /* push */
}

/* code + 8 is what the stack ended at; below it lies where that was returned from. */
static enum hi_stack_end judge(const uint8_t *code, enum hi_stack_end end, const uint8_t *below)
{
	const uint64_t frame[] = {0, (uintptr_t)below, (uintptr_t)(code + 8)};

	return stack_end_classify(&ends, &memory, (uint16_t)end, frame,
				  sizeof(frame) / sizeof(frame[0]));
}

static const uint8_t called[32] = {0x90, 0x90, 0x90, 0xe8, 1, 2, 3, 4},
		     jumped_to[32] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe3};
static const uint8_t trampoline[32] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3, 0x48,
				       0xc7, 0xc0, 0x0f, 0,    0,    0,    0x0f, 0x05};

UNIT_TEST(what_nobody_called_from_is_the_first_function)
{
	prepare();
	CHECK_EQ(judge(jumped_to, HI_END_NO_ROW, called), HI_END_COMPLETE);
	CHECK_EQ(judge(called, HI_END_NO_ROW, called), HI_END_NO_ROW);
	CHECK_EQ(judge(jumped_to, HI_END_NO_ROW, called), HI_END_COMPLETE); /* known by now */
	CHECK_EQ(judge(called, HI_END_NO_ROW, called), HI_END_NO_ROW);
}

UNIT_TEST(only_where_all_frames_are_sure)
{
	prepare();
	CHECK_EQ(judge(jumped_to, HI_END_LOST, called), HI_END_LOST);
	CHECK_EQ(judge(jumped_to, HI_END_REGION, called), HI_END_REGION);
	CHECK_EQ(judge(jumped_to, HI_END_COMPLETE, called), HI_END_COMPLETE);
}

UNIT_TEST(signals_are_not_called_either)
{
	prepare();
	CHECK_EQ(judge(trampoline, HI_END_NO_ROW, called), HI_END_NO_ROW);
	/* interrupted, anywhere */
	CHECK_EQ(judge(jumped_to, HI_END_NO_ROW, trampoline + 8), HI_END_NO_ROW);
}

UNIT_TEST(code_that_is_not_there_proves_nothing)
{
	prepare();
	CHECK_EQ(judge((const uint8_t *)0x1000, HI_END_NO_ROW, called), HI_END_NO_ROW);
}

UNIT_MAIN()
