/* SPDX-License-Identifier: MIT */
/*
 * calls_out: functions that end in a call through a pointer lead out, and those that jump by the
 * table of a switch, or to another function that is known, do not.
 */
#include "calls_out.h"

#include "own_images.h"
#include "unwind_table.h"

/* One function, with unwind information, of these instructions. */
#define FUNCTION(name, instructions)                                                             \
	void name(void);                                                                         \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name                    \
		":\n.cfi_startproc\n" instructions "\n.cfi_endproc\n.size " #name ", . - " #name \
		"\n");
#define PUSH_BX "push %rbx\n.cfi_adjust_cfa_offset 8\n"
#define POP_BX "pop %rbx\n.cfi_adjust_cfa_offset -8\n"

FUNCTION(closed, "mov %rdi, %rax\nret")
FUNCTION(calls_closed, PUSH_BX "call closed\n" POP_BX "jmp closed")
FUNCTION(calls_pointer, PUSH_BX "call *%rax\n" POP_BX "ret")
FUNCTION(calls_slot, PUSH_BX "call *8(%rdi)\n" POP_BX "ret")
FUNCTION(reaches_pointer, "jmp calls_pointer")

/* As pfree of PostgreSQL ends: by a method of the block's context. */
FUNCTION(ends_in_method, "mov %rdi, %rsi\nmov -8(%rdi), %rdi\nmov 16(%rdi), %rax\njmp *8(%rax)")
FUNCTION(ends_in_indexed_method, "mov -8(%rdi), %rax\nand $7, %eax\nshl $6, %rax\n"
				 "lea closed(%rip), %rdx\njmp *8(%rdx, %rax)")
FUNCTION(ends_in_pointer, PUSH_BX "mov (%rdi), %rax\n" POP_BX "jmp *%rax")
FUNCTION(ends_in_variable, "jmp *closed(%rip)")

FUNCTION(has_table, "lea closed(%rip), %rdx\nmovslq (%rdx, %rdi, 4), %rax\nadd %rdx, %rax\n"
		    "jmp *%rax\nret")
FUNCTION(has_table_of_old, "lea closed(%rip), %rdx\nmov (%rdx, %rdi, 4), %eax\ncltq\n"
			   "add %rdx, %rax\njmp *%rax\nret")
FUNCTION(has_table_of_addresses, "lea closed(%rip), %rdx\njmp *(%rdx, %rdi, 8)\nret")
FUNCTION(has_fixed_table, ".byte 0xff, 0x24, 0xfd, 0, 0, 0, 0\nret") /* jmp *0(, %rdi, 8) */
FUNCTION(goes_on, PUSH_BX "jmp *(%rdi)\n1: " POP_BX "ret")

static bool is_out(void (*function)(void))
{
	struct own own = own_open();
	const struct elf_image *image = elf_images_find(&own.images, (uintptr_t)function);
	struct eh_section section;
	struct eh_frame frame;
	bool is;

	CHECK(image);
	CHECK_EQ(unwind_table_section(image, &section), 0);
	CHECK_EQ(eh_frame_parse(&section, 0, UINT64_MAX, &frame), 0);
	is = calls_out(image, &frame, (uintptr_t)function);
	eh_frame_close(&frame);
	own_close(&own);
	return is;
}

UNIT_TEST(calls_through_pointers_lead_out)
{
	CHECK(!is_out(closed));
	CHECK(!is_out(calls_closed));
	CHECK(is_out(calls_pointer));
	CHECK(is_out(calls_slot));
	CHECK(is_out(reaches_pointer));
}

UNIT_TEST(calls_at_the_end_lead_out)
{
	CHECK(is_out(ends_in_method));
	CHECK(is_out(ends_in_indexed_method));
	CHECK(is_out(ends_in_pointer));
	CHECK(is_out(ends_in_variable));
}

UNIT_TEST(tables_of_a_switch_do_not)
{
	CHECK(!is_out(has_table));
	CHECK(!is_out(has_table_of_old));
	CHECK(!is_out(has_table_of_addresses));
	CHECK(!is_out(has_fixed_table));
	CHECK(!is_out(goes_on));
}

UNIT_MAIN()
