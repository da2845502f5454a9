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
