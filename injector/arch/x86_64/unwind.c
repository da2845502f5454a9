/* SPDX-License-Identifier: MIT */
/*
 * unwind.c - x86-64: DWARF's register numbers, which of the registers a call preserves, and where
 * the frames of signals and of hooks keep them.
 */
#include "arch.h"

#include <dwarf.h>
#include <string.h>

int arch_signal_word(uint64_t dwarf)
{
	/*
	 * uc_mcontext.gregs begins at word 5: r8..r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp.
	 * DWARF's order: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8..r15.
	 */
	static const uint8_t word[] = {18, 17, 19, 16, 14, 13, 15, 20, 5, 6, 7, 8, 9, 10, 11, 12};

	return dwarf < sizeof(word) ? word[dwarf] : -1;
}

enum arch_signing arch_signing(uint8_t opcode)
{
	(void)opcode;
	return ARCH_SIGNING_NONE;
}

bool arch_is_kept_by_calls(uint64_t dwarf)
{
	/* rbx, r12..r15 */
	return dwarf == 3 || dwarf == ARCH_DWARF_BP || dwarf == ARCH_DWARF_SP ||
	       (dwarf >= 12 && dwarf <= 15);
}

int arch_kept_index(uint64_t dwarf)
{
	if (dwarf == 3) /* rbx, r12..r15 */
		return 0;
	return dwarf >= 12 && dwarf <= 15 ? (int)dwarf - 11 : -1;
}

int64_t arch_hook_kept(unsigned index)
{
	return -56 + 8 * (int64_t)index;
}

/* sp + 8 + ((pc & 15) >= N ? 8 : 0), as linkers write it for .plt. */
int arch_plt_boundary(const uint8_t *expression, size_t size)
{
	static const uint8_t before[] = {DW_OP_breg0 + ARCH_DWARF_SP,
					 8,
					 DW_OP_breg0 + ARCH_DWARF_PC,
					 0,
					 DW_OP_lit15,
					 DW_OP_and},
			     after[] = {DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};

	if (size != sizeof(before) + 1 + sizeof(after) ||
	    memcmp(expression, before, sizeof(before)) != 0 ||
	    memcmp(expression + sizeof(before) + 1, after, sizeof(after)) != 0)
		return -1;
	const uint8_t literal = expression[sizeof(before)];
	return literal >= DW_OP_lit0 && literal <= DW_OP_lit15 ? literal - DW_OP_lit0 : -1;
}

/* mov word(%rsp), %rdi or %rsi: the register is in bits 3 to 5 of modrm. */
static bool is_load_from_stack(const uint8_t *code, uint8_t modrm)
{
	return code[0] == 0x48 && code[1] == 0x8b && code[2] == modrm && code[3] == 0x24 &&
	       code[4] % 8 == 0 && code[4] < 0x80;
}

/*
 * mov owner(%rsp), %rdi; mov 8(%rdi), %rsi; sub distance(%rsp), %rsi. The last has no displacement
 * where that is 0.
 */
static bool is_from_other_stack(const uint8_t *code, size_t size, struct arch_stack_return *back)
{
	static const uint8_t end[] = {0x48, 0x8b, 0x77, 0x08}, near[] = {0x48, 0x2b, 0x34, 0x24},
			     far[] = {0x48, 0x2b, 0x74, 0x24};

	if (size < 14 || !is_load_from_stack(code, 0x7c) || memcmp(code + 5, end, 4) != 0)
		return false;
	const bool is_far = memcmp(code + 9, far, 4) == 0;
	if ((!is_far && memcmp(code + 9, near, 4) != 0) || (is_far && code[13] % 8))
		return false;
	*back = (struct arch_stack_return){.kind = ARCH_STACK_OTHER,
					   .owner_word = code[4] / 8,
					   .distance_word = is_far ? code[13] / 8 : 0};
	return back->distance_word < 16;
}

/* mov distance(%rsp), %rsi; mov %rsi, %rsp */
static bool is_from_spilled(const uint8_t *code, size_t size, struct arch_stack_return *back)
{
	static const uint8_t to_sp[] = {0x48, 0x89, 0xf4};

	if (size < 8 || !is_load_from_stack(code, 0x74) || memcmp(code + 5, to_sp, 3) != 0)
		return false;
	*back = (struct arch_stack_return){.kind = ARCH_STACK_SPILLED,
					   .distance_word = code[4] / 8};
	return true;
}

/* Between the call and that, Go loads the address of its thread-local storage. */
bool arch_is_stack_return(const uint8_t *code, size_t size, size_t after,
			  struct arch_stack_return *out_back)
{
	const size_t load_max = 16;

	if (after < ARCH_CALL_MAX || after >= size ||
	    !arch_ends_in_call(code + after - ARCH_CALL_MAX))
		return false;
	for (size_t at = after; at < size && at <= after + load_max; at++)
		if (is_from_other_stack(code + at, size - at, out_back) ||
		    is_from_spilled(code + at, size - at, out_back))
			return true;
	return false;
}
