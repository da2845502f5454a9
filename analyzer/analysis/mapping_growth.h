/* SPDX-License-Identifier: MIT */
/*
 * mapping_growth.h - what was mapped in the window and is still there, and by which function most
 * of what the program itself has mapped. Without what is only reserved:
 * of that what is in memory counts, where it is known.
 */
#ifndef HI_MAPPING_GROWTH_H
#define HI_MAPPING_GROWTH_H

#include "user_frames.h"

struct mapping_growth {
	bool is_known; /* mappings were recorded */
	/* estimates, in bytes; the first is for the program itself, and for libraries */
	double application, allocators, stacks, linker, go;
	double unknown; /* the program's or an allocator's: MAPPING_BY_UNKNOWN */
	/* of `application` */
	double resident; /* in memory; < 0 = not known */
	double most;     /* by one function: in memory, if anything is known to be */
	uint32_t call;   /* of it, in the functions of the frames; not valid if most is 0 */
};

/* The frames must be of this profile, and have their names. 0 or -ENOMEM. */
int mapping_growth_of(const struct profile *profile, const struct user_frames *frames,
		      struct mapping_growth *out_growth);

#endif
