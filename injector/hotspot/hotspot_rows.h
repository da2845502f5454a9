/* SPDX-License-Identifier: MIT */
/*
 * hotspot_rows.h - how to leave the frames of a JVM's code, as unwind rows.
 *
 * Compiled code and stubs: from where the frame is complete, the CFA is a known number of words
 * above sp, and the caller's bp is saved where frames with a frame pointer have it, whatever bp
 * holds now. Frames of the interpreter have a frame pointer and their caller's sp, which an adapter
 * may have moved to make room for arguments. The JVM itself walks its stacks like that.
 */
#ifndef HI_HOTSPOT_ROWS_H
#define HI_HOTSPOT_ROWS_H

#include "hotspot_code.h"
#include "unwind_table.h"

/* Rows of a blob at most: before its frame is complete, after that, and after its code. */
#define HOTSPOT_ROWS_PER_BLOB 3u

/* The table of one heap, index included. -ENOMEM. */
must_check int hotspot_rows_build(const struct hotspot_code *code, const struct hotspot_heap *heap,
				  struct unwind_table *out_table);

#endif
