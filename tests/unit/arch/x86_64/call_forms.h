/* SPDX-License-Identifier: MIT */
/* call_forms.h - x86-64: calls and what is none, for stack_end_test. */
#ifndef HI_CALL_FORMS_H
#define HI_CALL_FORMS_H

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

/* Each ends 8 bytes into it; the code that makes rt_sigreturn begins there. */
static const uint8_t called[32] = {0x90, 0x90, 0x90, 0xe8, 1, 2, 3, 4},
		     jumped_to[32] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe3};
static const uint8_t trampoline[32] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3, 0x48,
				       0xc7, 0xc0, 0x0f, 0,    0,    0,    0x0f, 0x05};

#endif
