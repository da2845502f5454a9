/* SPDX-License-Identifier: MIT */
/*
 * row_walk.h - the stack of a stopped thread by the project's own unwind rows (unwind_table.h), for
 * CPUs whose calls leave the return address in a register: libunwind knows nothing of signed return
 * addresses, nor of the call frame instructions for them.
 *
 * Only rows of unwind information are followed, and those derived for the vdso. Where there is
 * none, or one of hand-written code, the walk is cut.
 */
#ifndef HI_ROW_WALK_H
#define HI_ROW_WALK_H

#include "arch.h"
#include "stack_frames.h"

struct hi_unwind_row;

struct row_walk_source {
	void *context;
	/* Reads a word of the stack. False: it cannot be read. */
	bool (*read)(void *context, remote_addr at, uint64_t *out_word);
	/* The row that covers pc, or NULL. */
	const struct hi_unwind_row *(*find)(void *context, remote_addr pc);
};

/* All of *out_walk is set. */
void row_walk(const struct row_walk_source *source, const struct arch_regs *regs,
	      struct stackwalk *out_walk);

#endif
