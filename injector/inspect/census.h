/* SPDX-License-Identifier: MIT */
/*
 * census.h - the blocks that a process holds, counted by what they hold and by size.
 */
#ifndef HI_CENSUS_H
#define HI_CENSUS_H

#include "content.h"

#define CENSUS_GROUPS_MAX (256u << 10)
#define CENSUS_SAMPLE_BYTES 40u

/* Blocks of one class, or of one kind and size. */
struct census_group {
	enum content_kind kind;
	uint32_t type; /* of an object */
	uint64_t size; /* of each block, usable; 0: of an object, whose sizes may differ */
	uint64_t count, bytes;
	uint64_t more_count, more_bytes;   /* of what hangs on them: see census_of */
	remote_addr sample;                /* one of them */
	uint8_t text[CENSUS_SAMPLE_BYTES]; /* the first bytes of that one, if it is text */
};

struct census {
	uint64_t at_ns;
	struct census_group *group; /* in no order */
	size_t count, room;
	uint32_t *slot; /* by hash: 1 + index of the group; 0 = free */
	size_t slots;
	uint64_t block_count, bytes; /* of all */
	bool is_crowded;             /* there were more groups: the rest is in those of size 0 */
};

/* What is counted. */
struct census_of {
	const struct mark_block *block;
	size_t count;
	/* By block, of others that are there for its sake alone; NULL: nothing is. */
	const struct census_more {
		uint64_t count, bytes;
	} * more;
	/* By block: the index of its group, which the census fills in. NULL: not wanted. */
	uint32_t *group;
};

/* The content of each block as its first bytes are now. 0, -ENOMEM, or an error of the memory. */
must_check int census_take(const struct heap_source *source, const struct census_of *of,
			   struct content_reader *reader, struct census *out_census);
void census_close(struct census *census);
/*
 * The index of the group of this kind, type and size; a new one has what `group` has. If there are
 * too many, that of size 0. 0 or -ENOMEM.
 */
must_check int census_intern(struct census *census, const struct census_group *group,
			     uint32_t *out_index);
/* The same group in another census, or NULL. Types of both have to be of one reader. */
const struct census_group *census_find(const struct census *census,
				       const struct census_group *group);

#endif
