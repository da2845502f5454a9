/* SPDX-License-Identifier: MIT */
/* call_forms.h - aarch64: calls and what is none, for stack_end_test. */
#ifndef HI_CALL_FORMS_H
#define HI_CALL_FORMS_H

UNIT_TEST(every_form_of_call_is_known)
{
	CHECK(IS_CALL("\x04\x00\x00\x94")); /* bl */
	CHECK(IS_CALL("\x60\x02\x3f\xd6")); /* blr x19 */
	CHECK(IS_CALL("\x7f\x0a\x3f\xd6")); /* blraaz x19 */
	CHECK(IS_CALL("\x60\x0a\x3f\xd7")); /* blraa x19, x0 */
}

UNIT_TEST(jumps_and_returns_are_no_calls)
{
	CHECK(!IS_CALL("\x04\x00\x00\x14")); /* b */
	CHECK(!IS_CALL("\x60\x02\x1f\xd6")); /* br x19 */
	CHECK(!IS_CALL("\xc0\x03\x5f\xd6")); /* ret */
	CHECK(!IS_CALL("\xff\x0b\x5f\xd6")); /* retaa */
	CHECK(!IS_CALL("\x1f\x20\x03\xd5")); /* nop */
}

/* Each ends 8 bytes into it; the code that makes rt_sigreturn begins there. */
static const uint8_t called[32] = {0x1f, 0x20, 3, 0xd5, 4, 0, 0, 0x94},
		     jumped_to[32] = {0x1f, 0x20, 3, 0xd5, 0x60, 2, 0x1f, 0xd6};
static const uint8_t trampoline[32] = {0x1f, 0x20, 3,    0xd5, 0x1f, 0x20, 3, 0xd5,
				       0x68, 0x11, 0x80, 0xd2, 1,    0,    0, 0xd4};

#endif
