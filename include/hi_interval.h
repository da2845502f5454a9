/* SPDX-License-Identifier: MIT */
/*
 * hi_interval.h - the sampling interval: how many bytes lie between two samples on average. It is
 * fixed, or adapts to what sampling may cost. The values with which it begins, and at which
 * sampling, or what is made of the samples, changes its ways.
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
	/* The sizes that fit this one are used where the interval adapts. */
	HI_INTERVAL_ADAPTED = HI_INTERVAL_SPARSE,
	/* Of `--sample auto` the finest interval is HI_INTERVAL_EXACT, and the first is that <<
	   this. */
	HI_INTERVAL_AUTO_SHIFT = 15,
	/* Where neither an interval nor a budget is asked for. */
	HI_INTERVAL_FIXED = 512 << 10,
};

/* With a larger one nothing would be sampled. */
#define HI_INTERVAL_MOST (1ull << 40)

#endif
