/* SPDX-License-Identifier: MIT */
/*
 * go_rows.h - unwind rows of code that the Go compiler made, which has no .eh_frame.
 *
 * Every Go program has a table of its functions (.gopclntab), stripped or not: Go's own runtime
 * walks stacks by it. For each function it says by how much the stack pointer has moved at each
 * address. Where Go calls C (runtime.asmcgocall) the stack changes: C runs on the thread's stack,
 * the caller's frame is on that of a goroutine. What the code after that call does to get back is
 * what a walker has to do.
 *
 * The format is that of Go 1.18 and later (src/runtime/symtab.go, src/debug/gosym/pclntab.go).
 */
#ifndef HI_GO_ROWS_H
#define HI_GO_ROWS_H

#include "elf_image.h"
#include "hi_wire.h"
#include "memory.h"

/* Bytes of one program; addresses are those of the file. */
struct go_code {
	const uint8_t *table; /* .gopclntab */
	size_t table_size;
	uint64_t functions; /* address from which the table counts; 0: the table says it */
	const uint8_t *code;
	uint64_t lo, hi; /* where the bytes of code are */
};

/* Valid from pc, an offset from go_code.lo, to the next one; sorted. */
struct go_rows {
	struct hi_unwind_row *row;
	size_t count;
};

/*
 * The rows of all functions that lie in the code. -ENOENT: it is no table of functions, or one of a
 * version that is not known. -EBADMSG: it is damaged. -ENOMEM.
 */
must_check int go_rows_make(const struct go_code *code, struct go_rows *out_rows);
void go_rows_free(struct go_rows *rows);

/* The table of functions of an object. -ENOENT: it has none. Fills in all but code, lo and hi. */
must_check int go_rows_find_table(const struct elf_image *image, struct go_code *out_code);

#endif
