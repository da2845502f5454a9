/* SPDX-License-Identifier: MIT */
/*
 * mapping_rows.h - the mappings of a profile as its rows: what the views show with --mmap. And
 * whose mappings they are, by the functions on their stacks.
 */
#ifndef HI_MAPPING_ROWS_H
#define HI_MAPPING_ROWS_H

#include "profile.h"

/* The label of what a mapping holds, and its texts. */
#define MAPPING_LABEL "mapping"
#define MAPPING_ANONYMOUS "anonymous"
#define MAPPING_FILE "file"
#define MAPPING_SHARED "shared"
#define MAPPING_RESERVED \
	"reserved" /* mapped without any right; mprotect may have given some later */
#define MAPPING_REMAPPED "remapped"
/* The label of whose it is. */
#define MAPPING_OWNER_LABEL "mapped_by"

/* The one frame of mappings that were made within a hooked function of an allocator. */
#define MAPPING_BY_ALLOCATOR "(mapped by the allocator)"

/* The types that a .pb.gz has of them, and the type of blocks that each is shown as. */
#define MAPPING_TYPES 5u
extern const struct mapping_type {
	const char *name, *unit;
	unsigned as; /* enum sample_type */
} mapping_types[MAPPING_TYPES];

/*
 * Text of MAPPING_OWNER_LABEL: "allocator", "thread stack", "dynamic linker" or "application". The
 * frames must have their names. A row that has the label keeps its text.
 */
const char *mapping_rows_owner(const struct profile *profile, const struct profile_row *row);
/*
 * Makes the mappings the rows of the profile, in place of those of blocks, and drops what is known
 * of blocks only. 0 or -ENOMEM.
 */
int mapping_rows_show(struct profile *profile);

#endif
