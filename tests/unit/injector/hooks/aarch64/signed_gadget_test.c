/* SPDX-License-Identifier: MIT */
/*
 * return_gadget on aarch64: which calls it takes, and what rows say of a signed return address. The
 * first function here is signed by another key.
 */
#include "return_gadget.h"

#include "arch.h"
#include "own_images.h"

#define FUNCTION(name, before, after)                                                          \
	void name(void);                                                                       \
	__asm__(".text\n.p2align 2\n.cfi_startproc\n" before ".cfi_def_cfa x29, 96\n"          \
		".cfi_offset x29, -96\n.cfi_offset x30, -88\n"                                 \
		".irp register, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28\n"                      \
		".cfi_offset x\\register, -80 + 8 * (\\register - 19)\n.endr\n" after          \
		"nop\n.globl " #name "\n.type " #name ", %function\n" #name ": blr x19\nnop\n" \
		".cfi_endproc\n");

FUNCTION(by_other_key, ".cfi_b_key_frame\n", ".cfi_negate_ra_state\n")
FUNCTION(is_signed, "",
	 ".cfi_remember_state\n.cfi_negate_ra_state\nnop\n.cfi_restore_state\n"
	 ".cfi_negate_ra_state\n")

UNIT_TEST(a_frame_whose_return_address_is_signed_as_the_payload_can)
{
	struct own own = own_open();
	const struct elf_image *program = elf_images_find(&own.images, (uintptr_t)is_signed);
	const struct return_gadget found =
		return_gadget_find(&own.images, program, &own.memory, false);

	CHECK_EQ(found.at, (uintptr_t)is_signed);
	CHECK_EQ(found.kept, 0);
	CHECK(found.is_signed);
	own_close(&own);
}

/* Also behind a signature check, and of other registers: only two fit. */
void instructions(void);
__asm__(".arch_extension pauth\n.text\n.p2align 2\n"
	".globl instructions\n.type instructions, %function\n"
	"instructions: blr x18\nbr x19\nret x20\nblraaz x21\nblr x29\nblr x28\nblr x19\n");

UNIT_TEST(calls_through_registers_that_calls_preserve)
{
	const uint8_t *code = (const uint8_t *)(uintptr_t)instructions;

	CHECK_EQ(arch_find_kept_call(code, 0, 28), 20);
	CHECK_EQ(arch_kept_call_register(code + 20), 9);
	CHECK_EQ(arch_find_kept_call(code, 21, 28), 24);
	CHECK_EQ(arch_kept_call_register(code + 24), 0);
	CHECK_EQ(arch_find_kept_call(code, 0, 20), 20);
	CHECK_EQ(arch_find_kept_call(code, 21, 24), 24);
}

UNIT_MAIN()
