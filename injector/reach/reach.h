/* SPDX-License-Identifier: MIT */
/*
 * Room reach/: which blocks of a process its memory still refers to, so that the others are leaked.
 *
 *   reach.h            of a process whose threads are all stopped: start here
 *   block_index.h      which words are pointers, and to which block
 *   mark.h             the marking itself, over numbers; needs no process
 *   root_ranges.h      where it begins: data of objects, stacks, thread-local storage
 *   glibc_bins.h       what glibc's malloc itself refers to
 *   glibc_links.h      what it leaves in the blocks that it gives
 *   words.h            the memory of a process, for the marking
 *
 * Uses elf/, tracee/ (the registers of a stopped thread), target/. Only reads.
 */

/*
 * reach.h - marks the blocks of a process whose threads are all stopped, or about to end. All
 * threads have to be among those that are given, and the blocks have to be all that are live:
 * memory of an allocator that is not known is not followed.
 */
#ifndef HI_REACH_H
#define HI_REACH_H

#include "mark.h"
#include "root_ranges.h"

struct reach_block {
	struct mark_block block;
	/* where the allocator was called from: what the dynamic linker has allocated is a root */
	remote_addr caller;
};

struct reach {
	struct mark_block *block; /* sorted by address, each address once */
	struct marks marks;       /* of these */
	uint64_t read_bytes;      /* of the process's memory */
};

/*
 * Sorts block[]. deadline_ns: of clock.h. 0, -ENOMEM, -ETIMEDOUT, -E2BIG, or an error of the
 * memory. Close it in either case.
 */
must_check int reach_mark(const struct reach_target *target, struct reach_block *block,
			  size_t count, uint64_t deadline_ns, struct reach *out_reach);
void reach_close(struct reach *reach);

#endif
