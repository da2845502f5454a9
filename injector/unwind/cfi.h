/* SPDX-License-Identifier: MIT */
/*
 * cfi.h - call frame instructions, executed row by row.
 *
 * DWARF 5, 6.4.2. Only three things are tracked: the CFA, where the caller's frame pointer and
 * return address are, and where the registers are that calls preserve. Instructions for other
 * registers are decoded and dropped.
 */
#ifndef HI_CFI_H
#define HI_CFI_H

#include "arch.h"
#include "eh_frame.h"

enum cfi_where {
	CFI_SAME,      /* still in its register */
	CFI_AT_CFA,    /* saved at CFA + offset */
	CFI_AT_BP,     /* saved where the frame pointer points */
	CFI_UNDEFINED, /* the value does not exist: for the return address, the end of the stack */
	CFI_ELSEWHERE, /* anything else */
};

struct cfi_saved {
	enum cfi_where where;
	int64_t offset;
};

struct cfi_rules {
	bool cfa_is_expression;
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct dwarf_cursor cfa_expression;
	struct cfi_saved bp, pc;
	struct cfi_saved kept[ARCH_KEPT];
	/* the return address is signed, with the CFA; or it may be, in another way */
	bool is_signed, may_be_signed_otherwise;
};

#define CFI_REMEMBER_MAX 16

struct cfi {
	const struct eh_section *section;
	const struct eh_cie *cie;
	struct cfi_rules rules, initial;
	struct cfi_rules remembered[CFI_REMEMBER_MAX];
	unsigned remembered_count;
	struct dwarf_cursor program;
	uint64_t pc;
	bool is_done;
};

/* The rules that the CIE sets up for all its FDEs. False: its program is malformed. */
bool cfi_initial(const struct eh_section *section, const struct eh_cie *cie,
		 struct cfi_rules *out_rules);

void cfi_start(struct cfi *cfi, const struct eh_frame *frame, const struct eh_fde *fde,
	       const struct cfi_rules *initial);
/*
 * The next row: *out_rules hold from *out_pc on, until the next row's pc or the end of the FDE. The
 * pc may be the same as before. False: there are no more rows. If the program is malformed from
 * some point on, *out_rules is NULL for that point, and that row is the last.
 */
bool cfi_next(struct cfi *cfi, uint64_t *out_pc, const struct cfi_rules **out_rules);

/* The rules at an address of the FDE. False: they cannot be known. */
bool cfi_find(const struct eh_frame *frame, const struct eh_fde *fde, uint64_t at,
	      struct cfi_rules *out_rules);

#endif
