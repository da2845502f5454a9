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
#define MAPPING_BRK "brk"
/* The label of whose it is. */
#define MAPPING_OWNER_LABEL "mapped_by"
#define MAPPING_OF_ALLOCATOR "allocator"
#define MAPPING_OF_THREAD "thread stack"
#define MAPPING_OF_LINKER "dynamic linker"
#define MAPPING_OF_GO "Go runtime"
#define MAPPING_OF_APPLICATION "application"
#define MAPPING_OF_UNKNOWN "unknown"

/* The one frame of mappings that were made within a hooked function of an allocator. */
#define MAPPING_BY_ALLOCATOR "(mapped by the allocator)"
/* the same where that is not known: by a signal handler, or after a jump out of such a call */
#define MAPPING_BY_UNKNOWN "(mapped while another call may have run)"

/* The types that a .pb.gz has of them, and the type of blocks that each is shown as. */
#define MAPPING_TYPES 5u
extern const struct mapping_type {
	const char *name, *unit;
	unsigned as; /* enum sample_type */
} mapping_types[MAPPING_TYPES];

/*
 * Text of MAPPING_OWNER_LABEL. The frames must have their names. A row that has the label keeps its
 * text.
 */
const char *mapping_rows_owner(const struct profile *profile, const struct profile_row *row);
/* Whether the mapping was made without any right to its memory. */
bool mapping_rows_is_reserved(const struct profile *profile, const struct profile_row *row);
/*
 * Estimates of all mappings that are not only reserved: what was mapped in all, and what is still
 * there.
 */
void mapping_rows_sum(const struct profile *profile, double *out_mapped, double *out_inuse);
/*
 * Makes the mappings the rows of the profile, in place of those of blocks, and drops what is known
 * of blocks only. 0 or -ENOMEM.
 */
int mapping_rows_show(struct profile *profile);

#endif
