/* SPDX-License-Identifier: MIT */
/*
 * census_looks.h - several censuses of a process, one after the other, each in the least room: how
 * many blocks and bytes each group had in each.
 */
#ifndef HI_CENSUS_LOOKS_H
#define HI_CENSUS_LOOKS_H

#include "census.h"

#define CENSUS_LOOKS_MAX 20u
#define CENSUS_LOOKS_MIN 6u /* from so many on a slope has an interval: SLOPE_POINTS_MIN */

struct census_amount {
	uint64_t blocks, bytes;
};

/* Zero-initialized = there was none yet. */
struct census_looks {
	unsigned count;
	struct census_look {
		uint64_t at_ns;
		struct census_amount *amount; /* by index of the group in `met`, as far as then */
		size_t groups;
	} look[CENSUS_LOOKS_MAX];
	struct census met; /* the groups of all looks */
};

/*
 * How many looks to take within that time, if one takes look_ns: as many as fit into a quarter of
 * it; CENSUS_LOOKS_MIN, if only these fit into all of it; else two, between which there is only a
 * difference.
 */
unsigned census_looks_wanted(uint64_t duration_ns, uint64_t look_ns);
/* at_ns: when its blocks were found. Types of all have to be of one reader. 0 or -ENOMEM. */
must_check int census_looks_add(struct census_looks *looks, const struct census *census,
				uint64_t at_ns);
/* What the group had in each look. False: there are too many groups to know. */
bool census_looks_of(const struct census_looks *looks, const struct census_group *group,
		     struct census_amount out_amount[CENSUS_LOOKS_MAX]);
void census_looks_close(struct census_looks *looks);

#endif
