/* SPDX-License-Identifier: MIT */
/*
 * go_rows.h - unwind rows of code that the Go compiler made, which has no .eh_frame.
 *
 * Its table of functions (hi_go_table.h) says by how much the stack pointer has moved at each
 * address. Where Go calls C (runtime.asmcgocall) the stack changes: C runs on the thread's stack,
 * the caller's frame is on that of a goroutine. What the code after that call does to get back is
 * what a walker has to do.
 */
#ifndef HI_GO_ROWS_H
#define HI_GO_ROWS_H

#include "hi_go_table.h"
#include "hi_wire.h"
#include "must_check.h"

/* Bytes of one program; addresses are those of the file. */
struct go_code {
	struct hi_go_table table;
	const uint8_t *code;
	uint64_t lo, hi; /* where the bytes of code are */
};

/* Valid from pc, an offset from go_code.lo, to the next one; sorted. */
struct go_rows {
	struct hi_unwind_row *row;
	size_t count;
};

/* The rows of all functions that lie in the code. -EBADMSG: the table is damaged. -ENOMEM. */
must_check int go_rows_make(const struct go_code *code, struct go_rows *out_rows);
void go_rows_free(struct go_rows *rows);

#endif
