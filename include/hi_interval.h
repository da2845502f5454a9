/* SPDX-License-Identifier: MIT */
/*
 * hi_interval.h - the sampling interval: how many bytes lie between two samples on average. The
 * default, and the values at which sampling, or what is made of the samples, changes its ways.
 */
#ifndef HI_INTERVAL_H
#define HI_INTERVAL_H

/* All in bytes. */
enum hi_interval {
	/*
	 * Exact mode: every allocation is a sample, and a number is a count, not an estimate.
	 * Where a file says 0, its numbers are counts, too.
	 */
	HI_INTERVAL_EXACT = 1,
	/*
	 * Up to this, samples follow each other closely, so rings, live set and interned stacks
	 * have the sizes for many, and a stack trie is kept.
	 */
	HI_INTERVAL_DENSE_MAX = 1024,
	/* From this on, samples are rare, and the smallest sizes suffice. */
	HI_INTERVAL_SPARSE = 256 << 10,
	HI_INTERVAL_DEFAULT = 512 << 10,
};
#define HI_INTERVAL_DEFAULT_TEXT "512K" /* HI_INTERVAL_DEFAULT, as people write it */
_Static_assert(HI_INTERVAL_DEFAULT == 512 << 10, "HI_INTERVAL_DEFAULT_TEXT");

#endif
