/* SPDX-License-Identifier: MIT */
/*
 * census_growth.h - which groups of a census grow, by how much a second, and how certain that is.
 *
 * Each group has a line through what it had in each look (hi_slope.h). It is said to grow only if
 * the interval of its slope lies above 0, and so clear an order is improbable among as many groups
 * as have changed at all. Two tests can show that: Kendall's, of all pairs, which counts less the
 * more neighbouring looks depend on each other; and that of the signs of the steps from look to
 * look, which may depend on each other like those of a random walk.
 */
#ifndef HI_CENSUS_GROWTH_H
#define HI_CENSUS_GROWTH_H

#include "census_looks.h"

enum census_verdict {
	CENSUS_GROWS,
	CENSUS_PROBABLY_GROWS, /* the interval says so, but among so many it may be chance */
	CENSUS_TOO_FEW,        /* looks for an interval */
	CENSUS_CANNOT_TELL,    /* neighbouring looks depend on each other: no interval */
	CENSUS_SHRINKS,
	CENSUS_PROBABLY_SHRINKS,
	CENSUS_STEADY, /* its interval includes 0 */
	CENSUS_VERDICTS
};

/* A second, and its 95 % interval: infinite where there is none. */
struct census_rate {
	double value, low, high;
};

struct census_row {
	const struct census_group *group; /* of the last look */
	enum census_verdict verdict;
	bool has_changed;
	double chance; /* the probability of so clear an order, of this row alone */
	struct census_rate blocks, bytes;
};

/* Zero-initialized = empty. */
struct census_growth {
	struct census_row *row; /* by verdict, as above; with one look by bytes */
	size_t count;
	unsigned looks;
	double seconds; /* from the first look to the last; 0: there was one */
};

/* looks: the last one of them is `now`; none of them: rows by bytes. 0 or -ENOMEM. */
must_check int census_growth_find(const struct census *now, const struct census_looks *looks,
				  struct census_growth *out_growth);
void census_growth_close(struct census_growth *growth);
/* "grows", ... */
const char *census_verdict_word(enum census_verdict verdict);

#endif
