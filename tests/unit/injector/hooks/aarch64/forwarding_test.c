/* SPDX-License-Identifier: MIT */
/*
 * forwarding on aarch64: what the code of a function shows of the arguments that it takes on the
 * stack, of its return address, and of its caller's registers.
 */
#include "function_forwarding.h"

#define X19 0u /* as arch_kept_index counts */
#define X20 1u

/* One function, with unwind information, of these instructions. */
#define FUNCTION(name, instructions)                                                      \
	void name(void);                                                                  \
	__asm__(".text\n.p2align 2\n.globl " #name "\n.type " #name ", %function\n" #name \
		":\n.cfi_startproc\n" instructions "ret\n.cfi_endproc\n.size " #name      \
		", . - " #name "\n");
#define PUSH                                                                        \
	"stp x29, x30, [sp, #-32]!\n.cfi_def_cfa_offset 32\n.cfi_offset x29, -32\n" \
	".cfi_offset x30, -24\nmov x29, sp\n"
#define PUSH_X19 PUSH "str x19, [sp, #24]\n.cfi_offset x19, -8\n"
#define POP                                                                  \
	"ldp x29, x30, [sp], #32\n.cfi_def_cfa_offset 0\n.cfi_restore x29\n" \
	".cfi_restore x30\n"
#define POP_X19 "ldr x19, [sp, #24]\n.cfi_restore x19\n" POP
#define CALL "bl callee\n"

void callee(void);
__asm__(".text\n.p2align 2\n.type callee, %function\ncallee: ret\n");

/* x19 lies in the word below the arguments, where the return address is on other CPUs. */
FUNCTION(plain, PUSH_X19 "mov x19, x0\nldr x0, [sp, #32]\n" CALL POP_X19)
FUNCTION(signs, "hint #25\n.cfi_negate_ra_state\n" PUSH CALL POP "hint #29\n.cfi_negate_ra_state\n")
FUNCTION(last_word, "ldr x0, [sp, #(31 * 8)]\n")
FUNCTION(beyond, "ldr x0, [sp, #(32 * 8)]\n")
FUNCTION(beyond_by_pair, "ldp x0, x1, [sp, #(31 * 8)]\n")
FUNCTION(beyond_by_vector, "ldr q0, [sp, #(30 * 8)]\nldr q1, [sp, #(32 * 8)]\n")
FUNCTION(beyond_by_frame, PUSH "ldr x0, [sp, #(32 + 32 * 8)]\n" POP)
FUNCTION(address, "add x0, sp, #8\n")
FUNCTION(indexed, "ldr x0, [sp, x0, lsl #3]\n")
FUNCTION(address_of_local, PUSH "add x0, sp, #16\n" CALL POP)

FUNCTION(looks_where, "mov x0, x30\n")
FUNCTION(looks_where_with_frame, PUSH "mov x0, x30\n" CALL POP)
FUNCTION(looks_in_the_frame, PUSH CALL "ldr x0, [sp, #8]\n" POP)
FUNCTION(strips, PUSH CALL "ldr x30, [sp, #8]\nhint #7\n" POP)
FUNCTION(stores_it_elsewhere, "str x30, [x0]\n")
FUNCTION(works_with_it, PUSH CALL "mov x30, x0\nadd x0, x30, #1\n" POP)
FUNCTION(works_with_it_early, PUSH "mov x30, x0\nadd x0, x30, #1\n" CALL POP)

FUNCTION(changes, "add x19, x19, #1\n")
FUNCTION(reads, "ldr x0, [x0, x19]\n")
FUNCTION(stores, "str x19, [sp, #-16]\nldr x0, [sp, #-16]\n")
FUNCTION(reads_after, PUSH_X19 "mov x19, x0\n" CALL POP_X19 "mov x0, x19\n")
FUNCTION(reads_frame, "ldr x0, [x29]\n")
FUNCTION(ends_in_address, "b address\n")
FUNCTION(ends_in_changes, PUSH_X19 "mov x19, x0\n" CALL POP_X19 "b changes\n")

FUNCTION(unknown_code, ".inst 0x04200000\n") /* add z0.b, z0.b, z0.b */
void no_rows(void);
__asm__(".text\n.globl no_rows\n.type no_rows, %function\nno_rows: ret\n.size no_rows, . - "
	"no_rows\n");

static enum forwarding of(void (*function)(void))
{
	return of_kept(function, X19);
}

UNIT_TEST(arguments_within_what_is_passed_on)
{
	CHECK_EQ(of(plain), FORWARDING_WORKS);
	CHECK_EQ(of(signs), FORWARDING_WORKS);
	CHECK_EQ(of(last_word), FORWARDING_WORKS);
	CHECK_EQ(of(address_of_local), FORWARDING_WORKS);
}

UNIT_TEST(arguments_beyond)
{
	CHECK_EQ(of(beyond), FORWARDING_TOO_MANY);
	CHECK_EQ(of(beyond_by_pair), FORWARDING_TOO_MANY);
	CHECK_EQ(of(beyond_by_vector), FORWARDING_TOO_MANY);
	CHECK_EQ(of(beyond_by_frame), FORWARDING_TOO_MANY);
}

UNIT_TEST(arguments_of_unknown_size)
{
	CHECK_EQ(of(address), FORWARDING_ADDRESS);
	CHECK_EQ(of(indexed), FORWARDING_ADDRESS);
	CHECK_EQ(of(ends_in_address), FORWARDING_ADDRESS);
}

UNIT_TEST(a_return_address_is_read)
{
	CHECK_EQ(of(looks_where), FORWARDING_RETURN_ADDRESS);
	CHECK_EQ(of(looks_where_with_frame), FORWARDING_RETURN_ADDRESS);
	CHECK_EQ(of(looks_in_the_frame), FORWARDING_RETURN_ADDRESS);
	CHECK_EQ(of(strips), FORWARDING_RETURN_ADDRESS);
	CHECK_EQ(of(stores_it_elsewhere), FORWARDING_RETURN_ADDRESS);
}

UNIT_TEST(the_register_of_the_return_address_may_have_something_else)
{
	CHECK_EQ(of(works_with_it), FORWARDING_WORKS);
	CHECK_EQ(of(works_with_it_early), FORWARDING_WORKS);
}

UNIT_TEST(only_the_register_that_is_replaced_matters)
{
	static void (*const functions[])(void) = {changes, reads, stores, reads_after,
						  ends_in_changes};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		printf("# function %zu\n", i);
		CHECK_EQ(of(functions[i]), FORWARDING_REGISTER);
		CHECK_EQ(of_kept(functions[i], X20), FORWARDING_WORKS);
	}
	CHECK_EQ(of_kept(reads_frame, X20), FORWARDING_REGISTER);
}

UNIT_TEST(what_cannot_be_followed_is_not_known)
{
	CHECK_EQ(of(unknown_code), FORWARDING_UNKNOWN);
	CHECK_EQ(of(no_rows), FORWARDING_UNKNOWN);
}

UNIT_MAIN()
