/* SPDX-License-Identifier: MIT */
/*
 * forwarding: what the code of a function shows of the arguments that it takes on the stack, and of
 * its caller's registers, by instructions that compilers write and by some that they do not.
 */
#include "function_forwarding.h"

#define BX 0u /* as arch_kept_index counts */
#define R12 1u

/* One function, with unwind information, of these instructions. */
#define FUNCTION(name, instructions)                                                 \
	void name(void);                                                             \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name        \
		":\n.cfi_startproc\n" instructions "ret\n.cfi_endproc\n.size " #name \
		", . - " #name "\n");
#define PUSH_BX "push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbx, 0\n"
#define POP_BX "pop %rbx\n.cfi_adjust_cfa_offset -8\n.cfi_restore %rbx\n"
#define PUSH_BP "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"
#define SET_BP PUSH_BP "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
#define LEAVE "leave\n.cfi_def_cfa %rsp, 8\n"

FUNCTION(plain, PUSH_BX "mov %rdi, %rbx\nmov 16(%rsp), %rax\n" POP_BX)
FUNCTION(last_word, "mov 8 + 31 * 8(%rsp), %rax\n")
FUNCTION(beyond, "mov 8 + 32 * 8(%rsp), %rax\n")
FUNCTION(beyond_by_vector, "movups 8 + 31 * 8(%rsp), %xmm0\n")
FUNCTION(beyond_by_long_double, "fldt 8 + 31 * 8(%rsp)\nfstp %st(0)\n")
FUNCTION(beyond_by_frame, SET_BP "sub $64, %rsp\nmov 16 + 32 * 8(%rbp), %rax\n" LEAVE)
FUNCTION(beyond_after_push, PUSH_BX "push 16 + 32 * 8(%rsp)\n.cfi_adjust_cfa_offset 8\n"
				    "pop %rax\n.cfi_adjust_cfa_offset -8\n" POP_BX)
FUNCTION(address, "lea 8(%rsp), %rax\n")
FUNCTION(indexed, "mov 8(%rsp, %rdi, 8), %rax\n")
FUNCTION(address_of_local, "sub $40, %rsp\n.cfi_adjust_cfa_offset 40\nlea 8(%rsp), %rax\n"
			   "lea 40(%rsp), %rdx\n"
			   "lea 40(%rsp), %rsp\n.cfi_adjust_cfa_offset -40\n")
FUNCTION(returns_where, "mov (%rsp), %rax\n")
FUNCTION(barrier, "lock orq $0, (%rsp)\n")
FUNCTION(hints, "endbr64\nnopl 8(%rsp)\n")

FUNCTION(changes, "inc %rbx\n")
FUNCTION(reads, "mov (%rdi, %rbx), %rax\n")
FUNCTION(reads_byte, "mov %bh, %al\n")
FUNCTION(reads_by_prefix, "bextr %ebx, %esi, %eax\n")
FUNCTION(reads_what_is_implied, "cpuid\n")
FUNCTION(stores, "mov %rbx, -8(%rsp)\nmov -8(%rsp), %rax\n")
FUNCTION(passes, "push %rbx\n.cfi_adjust_cfa_offset 8\npop %rax\n.cfi_adjust_cfa_offset -8\n")
FUNCTION(reads_frame, "mov (%rbp), %rax\n")
FUNCTION(reads_after, PUSH_BX "mov %rdi, %rbx\n" POP_BX "mov %rbx, %rax\n")
FUNCTION(no_such_register, "movzbl 8(%rdi), %edi\nmov %dil, (%rcx)\naddps %xmm3, %xmm3\n"
			   "vaddps %ymm5, %ymm3, %ymm3\nsete %ch\nfld %st(3)\nfstp %st(0)\n"
			   "movq %xmm3, %xmm5\nxchg %ax, %ax\n")

FUNCTION(variadic, "test %al, %al\nje 1f\nmovaps %xmm0, -24(%rsp)\n1: lea 8(%rsp), %rax\n")
FUNCTION(ends_in_variadic, "xor %eax, %eax\njmp variadic\n")
FUNCTION(ends_in_address, "jmp address\n")
FUNCTION(ends_beyond, "test %rdi, %rdi\njne beyond\n")
FUNCTION(ends_in_changes, PUSH_BX "mov %rdi, %rbx\n" POP_BX "jmp changes\n")

FUNCTION(unknown_code, ".byte 0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc0\n")
FUNCTION(unknown_frame, ".cfi_escape 0x0f, 0x02, 0x77, 0x08\nmov 8(%rsp), %rax\n")
void no_rows(void);
__asm__(".text\n.globl no_rows\n.type no_rows, @function\nno_rows: ret\n.size no_rows, . - "
	"no_rows\n");

static enum forwarding of(void (*function)(void))
{
	return of_kept(function, BX);
}

UNIT_TEST(arguments_within_what_is_passed_on)
{
	CHECK_EQ(of(plain), FORWARDING_WORKS);
	CHECK_EQ(of(last_word), FORWARDING_WORKS);
	CHECK_EQ(of(address_of_local), FORWARDING_WORKS);
	CHECK_EQ(of(hints), FORWARDING_WORKS);
}

UNIT_TEST(arguments_beyond)
{
	CHECK_EQ(of(beyond), FORWARDING_TOO_MANY);
	CHECK_EQ(of(beyond_by_vector), FORWARDING_TOO_MANY);
	CHECK_EQ(of(beyond_by_long_double), FORWARDING_TOO_MANY);
	CHECK_EQ(of(beyond_by_frame), FORWARDING_TOO_MANY);
	CHECK_EQ(of(beyond_after_push), FORWARDING_TOO_MANY);
}

UNIT_TEST(arguments_of_unknown_size)
{
	CHECK_EQ(of(address), FORWARDING_ADDRESS);
	CHECK_EQ(of(indexed), FORWARDING_ADDRESS);
	CHECK_EQ(of(variadic), FORWARDING_ADDRESS);
}

UNIT_TEST(a_return_address_is_read)
{
	CHECK_EQ(of(returns_where), FORWARDING_RETURN_ADDRESS);
	CHECK_EQ(of(barrier), FORWARDING_WORKS);
}

UNIT_TEST(only_the_register_that_is_replaced_matters)
{
	static void (*const functions[])(void) = {
		changes, reads,  reads_byte,  reads_by_prefix, reads_what_is_implied,
		stores,  passes, reads_after, ends_in_changes};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		printf("# function %zu\n", i);
		CHECK_EQ(of(functions[i]), FORWARDING_REGISTER);
		CHECK_EQ(of_kept(functions[i], R12), FORWARDING_WORKS);
	}
	CHECK_EQ(of_kept(reads_frame, R12), FORWARDING_REGISTER);
	CHECK_EQ(of(no_such_register), FORWARDING_WORKS);
}

UNIT_TEST(functions_that_are_jumped_to_find_the_same_stack)
{
	CHECK_EQ(of(ends_in_variadic), FORWARDING_WORKS);
	CHECK_EQ(of(ends_in_address), FORWARDING_ADDRESS);
	CHECK_EQ(of(ends_beyond), FORWARDING_TOO_MANY);
}

UNIT_TEST(what_cannot_be_followed_is_not_known)
{
	CHECK_EQ(of(unknown_code), FORWARDING_UNKNOWN);
	CHECK_EQ(of(unknown_frame), FORWARDING_UNKNOWN);
	CHECK_EQ(of(no_rows), FORWARDING_UNKNOWN);
}

UNIT_MAIN()
