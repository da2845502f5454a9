/* SPDX-License-Identifier: MIT */
/*
 * stack_end: what tells the first function of a coroutine from a frame that nobody knows the way
 * out of. The code is made up (of each CPU: call_forms.h), the memory this process's own.
 */
#include "stack_end.h"

#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "unit.h"

static bool is_call(const char *bytes, size_t size)
{
	uint8_t before[ARCH_CALL_MAX];

	memset(before, 0x90, sizeof(before));
	memcpy(before + sizeof(before) - size, bytes, size);
	return arch_ends_in_call(before);
}
#define IS_CALL(bytes) is_call(bytes, sizeof(bytes) - 1)

#include "call_forms.h"

static struct memory memory;
static struct stack_ends ends;

static void prepare(void)
{
	CHECK_EQ(memory_open(&memory, getpid(), getpid()), 0);
	memset(&ends, 0, sizeof(ends));
}

/* code + 8 is what the stack ended at; below it lies where that was returned from. */
static enum hi_stack_end judge(const uint8_t *code, enum hi_stack_end end, const uint8_t *below)
{
	const uint64_t frame[] = {0, (uintptr_t)below, (uintptr_t)(code + 8)};

	return stack_end_classify(&ends, &memory, (uint16_t)end, frame,
				  sizeof(frame) / sizeof(frame[0]));
}

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
