/* SPDX-License-Identifier: MIT */
/*
 * referrers.h - of each class of blocks, whose pointers lead there: which classes and places refer
 * to its blocks, and which places and modules keep them (owners.h).
 */
#ifndef HI_REFERRERS_H
#define HI_REFERRERS_H

#include "owners.h"

#define REFERRERS_SHOWN 3u

struct referrer {
	uint32_t blocks; /* of the class */
	uint32_t index;  /* of a group of the census, or the node of what is no block */
	bool is_class;
};

/* Those of most blocks, most first. */
struct referrer_list {
	struct referrer first[REFERRERS_SHOWN];
	unsigned count; /* of these */
	uint32_t more;  /* that are not among them */
};

/* By group of the census. */
struct group_referrers {
	/* What has pointers to its blocks: a block that several refer to counts for each of them.
	 */
	struct referrer_list pointers;
	/* Each block counts once: for the place that keeps it, and for that one's module. */
	struct referrer_list places, modules;
};

/* Zero-initialized = not known. */
struct referrers {
	struct group_referrers *group;
	size_t count;
};

/* 0 or -ENOMEM. Close it in either case. */
must_check int referrers_find(const struct owners *owners, struct referrers *out_referrers);
void referrers_close(struct referrers *referrers);

#endif
