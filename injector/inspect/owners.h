/* SPDX-License-Identifier: MIT */
/*
 * owners.h - what keeps the blocks of a process: what each node of its graph of references retains,
 * which is what would be free without it.
 */
#ifndef HI_OWNERS_H
#define HI_OWNERS_H

#include "census.h"
#include "dominators.h"
#include "references.h"

struct owners {
	struct references references;
	struct dominators dominators;
	/* By node: of all blocks that it dominates, itself included. */
	uint64_t *bytes;
	uint32_t *blocks;
	struct census census;
	uint32_t *group; /* of the census, by index of the block */
	/* The nodes that each node dominates immediately: those of `child` from first_child on. */
	uint32_t *first_child, *child;
};

/* 0, -ENOMEM, or an error of the memory. Close it in either case. */
must_check int owners_find(struct inspected *inspected, const struct used_blocks *blocks,
			   struct content_reader *reader, struct owners *out_owners);
void owners_close(struct owners *owners);
/* The group of a block's node. */
static inline uint32_t owners_group(const struct owners *owners, uint32_t node)
{
	return owners->group[node - owners->references.places];
}

#endif
