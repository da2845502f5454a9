/* SPDX-License-Identifier: MIT */
/*
 * hi_block.h - the live blocks of a session as its analyzer child knows them, in answer to a DUMP
 * record with HI_DUMP_BLOCKS alone: an array of these, in no order, in the file that is asked for
 * as HI_FILE_DUMP_HEAP. The reader does not trust it: the child reads data of a hostile target.
 */
#ifndef HI_BLOCK_H
#define HI_BLOCK_H

#include <stdint.h>

struct hi_block {
	uint64_t address, bytes; /* bytes: as requested */
	uint64_t caller;         /* return address of the call of the allocator; 0 = unknown */
};
_Static_assert(sizeof(struct hi_block) == 24, "live block");

#endif
