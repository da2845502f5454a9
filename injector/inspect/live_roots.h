/* SPDX-License-Identifier: MIT */
/*
 * live_roots.h - where a running process has pointers to its blocks, other blocks aside: all
 * mappings that may hold some, as far as no allocator has them, and no session of heapinject.
 *
 * Of a thread that waits, the stack begins a little below its stack pointer; that of a thread that
 * runs counts as a whole. Of a copy (memory_copy.h) they are all known. Registers are a mapping of
 * the copy, and else not here.
 */
#ifndef HI_LIVE_ROOTS_H
#define HI_LIVE_ROOTS_H

#include "used_blocks.h"

struct live_root {
	remote_addr lo, hi;
	const struct mapping *mapping; /* that it is a part of */
	/* of a thread whose stack this is; 0: it is none, or it is not known whose */
	pid_t tid;
	bool is_stack;
};
typedef int live_root_visit(void *context, const struct live_root *root);

/*
 * By rising address. maps: not older than the blocks. 0, -ENOMEM, an error of /proc, or the first
 * one of visit, which ends it.
 */
must_check int live_roots_visit(const struct memory *memory, const struct maps *maps,
				const struct used_blocks *blocks, live_root_visit *visit,
				void *context);

#endif
