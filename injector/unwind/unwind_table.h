/* SPDX-License-Identifier: MIT */
/*
 * Room unwind/: how the injector and the payload walk stacks of the target.
 *
 *   unwind_table.h     .eh_frame of an object as rows for the payload: start here
 *                      (its steps: cfi.h, eh_frame.h, unwind_row.h)
 *   derived_rows.h     rows for code that has no .eh_frame, from its instructions
 *   go_rows.h          rows for code of Go, from its own table of functions
 *   stackwalk.h        the stack of a stopped thread, by libunwind
 *   row_walk.h         the same by rows, where libunwind knows too little
 *   safepoint.h        may a stopped thread call a function where it is?
 *   blocked_stack.h    the stack of a thread that cannot stop
 *   stack_end.h        ends of stacks that no unwind information marks
 *
 * Uses elf/, tracee/, target/, arch/. Nothing here writes to the target.
 */

/*
 * unwind_table.h - .eh_frame of one object compiled to the payload's unwind rows (hi_wire.h).
 *
 * The project has its own parser instead of a library's: it must build 36,000 rows in a
 * millisecond, treat the section as hostile, and answer "unknown" rather than guess.
 */
#ifndef HI_UNWIND_TABLE_H
#define HI_UNWIND_TABLE_H

#include "eh_frame.h"
#include "elf_images.h"
#include "hi_wire.h"

struct unwind_table {
	remote_addr lo, hi;        /* text covered: one executable mapping */
	struct hi_unwind_row *row; /* sorted by pc = offset from lo; row 0 has pc 0 */
	uint32_t row_count;
	uint32_t *index; /* see HI_INDEX_BYTES */
	uint32_t index_count;
};

/*
 * Number of bytes that unwind_table_build will read; its time is proportional to that. 0: there is
 * nothing to build a table from.
 */
uint64_t unwind_table_cost(const struct elf_image *image);
/* Finds the object's .eh_frame; its bytes are those of the open file. -ENOENT: it has none. */
must_check int unwind_table_section(const struct elf_image *image, struct eh_section *out_section);
/* text: one of image->text. -ENOENT: the object has no .eh_frame, so there is no table; but a
 * vdso without one has derived rows. */
must_check int unwind_table_build(const struct elf_image *image, const struct elf_text *text,
				  struct unwind_table *out_table);
/*
 * The same with rows of .eh_frame alone, for who needs proof: none of Go's table, none derived, but
 * for a vdso.
 */
must_check int unwind_table_build_described(const struct elf_image *image,
					    const struct elf_text *text,
					    struct unwind_table *out_table);
/* Makes the index, for rows that have another source. -ENOMEM. */
must_check int unwind_table_index(struct unwind_table *table);
void unwind_table_close(struct unwind_table *table);
/* Returns the row that covers pc, as the payload finds it; never NULL for lo <= pc < hi. */
const struct hi_unwind_row *unwind_table_find(const struct unwind_table *table, remote_addr pc);

#endif
