/* SPDX-License-Identifier: MIT */
/* go_calls.h - aarch64: how Go gets its stack back after a call of C, for go_rows_test. */
#ifndef HI_GO_CALLS_H
#define HI_GO_CALLS_H

UNIT_TEST(a_call_of_c_comes_back_from_another_stack)
{
	static const uint32_t other[] = {
		0xd63f0020, /* blr x1 */
		0xaa0003e9, /* mov x9, x0 */
		0xf94003fc, /* ldr x28, [sp] */
		0x94000100, /* bl runtime.save_g */
		0xf9400785, /* ldr x5, [x28, #8] */
		0xf94007e6, /* ldr x6, [sp, #8] */
		0xcb0600a5, /* sub x5, x5, x6 */
		0xaa0903e0, /* mov x0, x9 */
		0x910000bf, /* mov sp, x5 */
	};
	/* where Go was on that stack already: ldr x2, [sp, #8]; mov sp, x2 */
	static const uint32_t same[] = {0xd63f0020, 0xf94007e2, 0x9100005f, 0xd65f03c0};
	struct made_go_table table = {0};

	for (size_t i = 0; i < sizeof(code_bytes) / 4; i++)
		memcpy(code_bytes + 4 * i, "\x1f\x20\x03\xd5", 4); /* nop */
	memcpy(code_bytes + 0x20, other, sizeof(other));
	memcpy(code_bytes + 0x50, same, sizeof(same));
	made_go_function(&table, 0x10, "runtime.asmcgocall", "\x02\x40", 2);
	const struct go_code code = finish(&table, 0x60);

	CHECK_ROWS(code, {0x10, HI_UNWIND_NONE, 0},
		   {0x23, HI_UNWIND_OTHER_STACK, HI_UNWIND_PAIR(1, 0)}, {0x24, HI_UNWIND_NONE, 0},
		   {0x53, HI_UNWIND_SPILLED, HI_UNWIND_PAIR(1, 2)}, {0x54, HI_UNWIND_NONE, 0},
		   {0x60, HI_UNWIND_NONE, 0});
}

/* Other registers, another order, or words that are not those of a frame. */
UNIT_TEST(code_that_is_like_a_call_of_c_is_none)
{
	static const uint32_t other[][5] = {
		{0xd63f0020, 0xf94003fc, 0xf9400765, 0xf94007e6, 0xcb0600a5}, /* [x27, #8] */
		{0xd63f0020, 0xf94003fc, 0xf9400785, 0xf94007e6, 0xcb0500c5}, /* x6 - x5 */
		{0xd63f0020, 0xf9400785, 0xf94003fc, 0xf94007e6, 0xcb0600a5},
		{0xd503201f, 0xf94003fc, 0xf9400785, 0xf94007e6, 0xcb0600a5}, /* no call */
		{0xd63f0020, 0xf94043fc, 0xf9400785, 0xf94007e6, 0xcb0600a5}, /* word 16 */
		{0xd63f0020, 0xf94007e2, 0x9100007f},                         /* mov sp, x3 */
		{0xd63f0020, 0xf94043e2, 0x9100005f},                         /* word 16 */
		{0xd503201f, 0xf94007e2, 0x9100005f},                         /* no call */
	};

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		struct made_go_table table = {0};

		memset(code_bytes, 0, sizeof(code_bytes));
		memcpy(code_bytes + 0x20, other[i], sizeof(other[i]));
		made_go_function(&table, 0x10, "runtime.asmcgocall", "\x02\x40", 2);
		const struct go_code code = finish(&table, 0x60);

		CHECK_ROWS(code, {0x10, HI_UNWIND_NONE, 0}, {0x60, HI_UNWIND_NONE, 0});
	}
}

#endif
