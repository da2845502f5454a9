/* SPDX-License-Identifier: MIT */
/*
 * used_blocks.h - all blocks that a process's allocators have given out, and where the allocators
 * have their memory.
 */
#ifndef HI_USED_BLOCKS_H
#define HI_USED_BLOCKS_H

#include "heaps.h"
#include "mark.h"

/* As many are taken at most: 16 bytes for each. */
#define USED_BLOCKS_MAX (64u << 20)

struct used_range {
	remote_addr lo, hi;
};

struct used_blocks {
	struct mark_block *block; /* by address; bytes: that can be used */
	size_t count, room;
	uint64_t bytes;           /* of all */
	struct used_range *range; /* memory of allocators that was understood, by address, joined */
	size_t range_count, range_room;
	uint64_t unsure_bytes; /* of memory that was not understood */
	bool is_partial;       /* there were more, or it took too long */
	struct heaps heaps;
	/* how often all threads were stopped to copy the memory, and for how long at most */
	unsigned held_times;
	uint64_t held_ns;
	size_t held_threads;
};

/*
 * also: sees all that the walk does, too; NULL: nobody does. 0, -ENOMEM, or an error of the memory
 * or of `also`. Close it in either case.
 */
must_check int used_blocks_find(struct heap_source *source, const struct heap_visitor *also,
				struct used_blocks *out_blocks);
/* False: no allocator's blocks could be read, and nothing is known of what the process holds. */
bool used_blocks_are_known(const struct used_blocks *blocks);
void used_blocks_close(struct used_blocks *blocks);

#endif
