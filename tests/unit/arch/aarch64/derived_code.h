/* SPDX-License-Identifier: MIT */
/* derived_code.h - aarch64: functions for derived_rows_test, and their rows. */
#ifndef HI_DERIVED_CODE_H
#define HI_DERIVED_CODE_H

/* Bytes of instructions under this name; numbers of rows below are those of instructions. */
#define MADE(name, code)                                                                  \
	__asm__(".pushsection .rodata\n.p2align 2\n" #name ": " code "\n" #name "_end:\n" \
		".popsection\n");                                                         \
	extern __attribute__((visibility("hidden"))) const uint8_t name[], name##_end[]
#define CODE(name) name, (size_t)(name##_end - name)
#define AT(instruction) 4 * (instruction)

MADE(made_pair, "stp x29, x30, [sp, #-48]!; mov x29, sp; stp x19, x20, [sp, #16];"
		"str x21, [sp, #32]; cbz x0, 1f; bl .+64; ldp x19, x20, [sp, #16];"
		"ldp x29, x30, [sp], #48; ret; 1: ldp x29, x30, [sp], #48; ret");
MADE(made_large, "sub sp, sp, #1, lsl #12; sub sp, sp, #32; stp x29, x30, [sp, #16];"
		 "add x29, sp, #16; bl .+64; ldp x29, x30, [sp, #16]; add sp, sp, #32;"
		 "add sp, sp, #1, lsl #12; ret");
MADE(made_alone, "str x30, [sp, #-32]!; str x19, [sp, #16]; bl .+64; mov x30, x0;"
		 "ldr x30, [sp], #32; ret");
MADE(made_other_pair, "stp x19, x30, [sp, #-32]!; bl .+64; ldp x19, x30, [sp], #32; ret");
MADE(made_leaf, "sub sp, sp, #64; str x0, [sp, #8]; ldr x1, [x0, #16]!; add sp, sp, #64; ret");
MADE(made_signed, "hint #25; stp x29, x30, [sp, #-16]!; bl .+64; ldp x29, x30, [sp], #16;"
		  "hint #29; ret");

UNIT_TEST(saves_are_followed_on_both_branches)
{
	check_code(CODE(made_pair),
		   ROWS({AT(0), HI_UNWIND_LINK, 0, 0}, {AT(1), HI_UNWIND_SP, 6, -6},
			{AT(6), HI_UNWIND_SP, 6, -6}, {AT(8), HI_UNWIND_LINK, 0, 0},
			{AT(9), HI_UNWIND_SP, 6, -6}, {AT(10), HI_UNWIND_LINK, 0, 0}));
	check_code(CODE(made_large),
		   ROWS({AT(1), HI_UNWIND_LINK, 512, 0}, {AT(2), HI_UNWIND_LINK, 516, 0},
			{AT(3), HI_UNWIND_SP_RECORD, 516, 2}, {AT(6), HI_UNWIND_LINK, 516, 0},
			{AT(7), HI_UNWIND_LINK, 512, 0}, {AT(8), HI_UNWIND_LINK, 0, 0}));
	check_code(CODE(made_alone),
		   ROWS({AT(0), HI_UNWIND_LINK, 0, 0}, {AT(1), HI_UNWIND_ALONE, 4, -4},
			{AT(4), HI_UNWIND_ALONE, 4, -4}, {AT(5), HI_UNWIND_LINK, 0, 0}));
	check_code(CODE(made_other_pair),
		   ROWS({AT(1), HI_UNWIND_ALONE, 4, -3}, {AT(3), HI_UNWIND_LINK, 0, 0}));
	check_code(CODE(made_leaf),
		   ROWS({AT(1), HI_UNWIND_LINK, 8, 0}, {AT(3), HI_UNWIND_LINK, 8, 0},
			{AT(4), HI_UNWIND_LINK, 0, 0}));
	check_code(CODE(made_signed),
		   ROWS({AT(1), HI_UNWIND_LINK, 0, 0}, {AT(2), HI_UNWIND_SP, 2, -2},
			{AT(5), HI_UNWIND_LINK, 0, 0}));
}

MADE(made_unbalanced, "sub sp, sp, #16; ret");
MADE(made_unlike, "cbz x0, 1f; sub sp, sp, #16; 1: add sp, sp, #16; ret");
MADE(made_lost, "mov sp, x1; ret");
MADE(made_not_restored, "stp x29, x30, [sp, #-16]!; bl .+64; add sp, sp, #16; ret");
MADE(made_other_place, "stp x29, x30, [sp, #-32]!; bl .+64; ldp x29, x30, [sp, #8]; add sp, sp, "
		       "#32; ret");
MADE(made_overwritten, "mov x30, x1; ret");
MADE(made_odd, "sub sp, sp, #12; add sp, sp, #12; ret");

UNIT_TEST(what_does_not_add_up_has_no_rows)
{
	check_code(CODE(made_unbalanced), ROWS({AT(0), HI_UNWIND_NONE, 0, 0}));
	check_code(CODE(made_unlike), ROWS({AT(0), HI_UNWIND_NONE, 0, 0}, {AT(2), 0, 0, 0}));
	check_code(CODE(made_lost), ROWS({AT(0), HI_UNWIND_NONE, 0, 0}));
	check_code(CODE(made_not_restored), ROWS({AT(2), HI_UNWIND_NONE, 0, 0}));
	check_code(CODE(made_other_place), ROWS({AT(2), HI_UNWIND_NONE, 0, 0}));
	check_code(CODE(made_overwritten), ROWS({AT(0), HI_UNWIND_NONE, 0, 0}));
	check_code(CODE(made_odd), ROWS({AT(0), HI_UNWIND_NONE, 0, 0}));
}

MADE(made_dynamic, "stp x29, x30, [sp, #-32]!; mov x29, sp; sub sp, sp, x0; bl .+64; mov sp, x29;"
		   "ldp x29, x30, [sp], #32; ret");
MADE(made_dynamic_lost, "stp x29, x30, [sp, #-32]!; mov x29, sp; sub sp, sp, x0; add x29, x29, #8;"
			"mov sp, x29; ldp x29, x30, [sp], #32; ret");

UNIT_TEST(a_frame_pointer_holds_where_the_stack_pointer_is_lost)
{
	check_code(CODE(made_dynamic),
		   ROWS({AT(2), HI_UNWIND_SP, 4, -4}, {AT(3), HI_UNWIND_BP, 4, -4},
			{AT(5), HI_UNWIND_SP, 4, -4}, {AT(6), HI_UNWIND_LINK, 0, 0}));
	check_code(CODE(made_dynamic_lost), ROWS({AT(0), HI_UNWIND_NONE, 0, 0}));
}

MADE(made_first, "mov x29, #0; mov x30, #0; mov x0, sp; and sp, x0, #-16; bl .+8; udf #0");
MADE(made_child, "cbz x0, 1f; ret; 1: ldp x1, x0, [sp], #16; blr x1; mov x8, #93; svc #0");
MADE(made_variable,
     "stp x29, x30, [sp, #-16]!; mov x29, #0; bl .+64; ldp x29, x30, [sp], #16; ret");

UNIT_TEST(the_outermost_function_says_so)
{
	check_code(CODE(made_first),
		   ROWS({AT(1), HI_UNWIND_END, 0, 0}, {AT(4), HI_UNWIND_END, 0, 0}));
	/* as in musl's clone: the child begins on another stack, and takes words from there */
	check_code(CODE(made_child),
		   ROWS({AT(1), HI_UNWIND_LINK, 0, 0}, {AT(3), HI_UNWIND_END, 0, 0}));
	check_code(CODE(made_variable), ROWS({AT(2), HI_UNWIND_SP, 2, -2}));
}

MADE(made_abort, "cbz x0, 1f; ret; 1: bl .+8; nop; ret");

UNIT_TEST(behind_a_call_that_does_not_return_another_function_begins)
{
	/* It has not saved where it would return to. */
	check_code(CODE(made_abort),
		   ROWS({AT(2), HI_UNWIND_LINK, 0, 0}, {AT(3), HI_UNWIND_NONE, 0, 0},
			{AT(4), HI_UNWIND_LINK, 0, 0}));
}

/* adrp and add are as far apart as compilers may put them */
MADE(made_handler, "adrp x2, .; str x1, [x3]; add x2, x2, #0x14; ret; nop;"
		   "mov x8, #139; svc #0; nop; nop");

UNIT_TEST(the_trampoline_behind_a_handler_is_found)
{
	const size_t size = (size_t)(made_handler_end - made_handler);
	uint8_t code[64];

	memcpy(code, made_handler, size);
	memcpy(code, "\x02\x00\x00\x90", 4); /* the page of LO */
	check_code(code, size,
		   ROWS({AT(0), HI_UNWIND_LINK, 0, 0}, {AT(5) - 1, HI_UNWIND_SIGNAL, 0, 0},
			{AT(5), HI_UNWIND_SIGNAL, 0, 0}));
}

#endif
