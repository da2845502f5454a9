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

/*
 * The same with stacks, in answer to a DUMP record with HI_DUMP_STACKED alone: this, so many
 * blocks, in no order, and the text of so many stacks, each "leaf file.c:12 < caller < ..." with a
 * zero byte at its end. As little trusted.
 */
#define HI_STACKED_MAGIC 0x31736b6361747348u /* "Hstacks1" */
struct hi_stacked {
	uint64_t magic, block_count, stack_count, text_bytes;
};
struct hi_stacked_block {
	uint64_t address;
	uint32_t stack; /* by number of the text */
	uint32_t reserved;
};
_Static_assert(sizeof(struct hi_stacked) == 32, "live blocks with stacks");
_Static_assert(sizeof(struct hi_stacked_block) == 16, "live block with a stack");

#endif
