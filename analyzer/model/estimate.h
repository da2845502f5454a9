/* SPDX-License-Identifier: MIT */
/*
 * estimate.h - from sampled counts to estimates with intervals. Derivation and sources: docs/sampling.md.
 */
#ifndef HI_ESTIMATE_H
#define HI_ESTIMATE_H

#include "profile.h"

enum sample_type { ALLOC_OBJECTS, ALLOC_SPACE, INUSE_OBJECTS, INUSE_SPACE, SAMPLE_TYPE_COUNT };

/*
 * A sum of unbiased weights, and what its interval needs. Zero-initialized = nothing. Sums of independent estimates add field by field. In a comparison `value`
 * is the difference: what the new side has, less the base.
 */
struct estimate {
	double value;    /* unbiased: objects or bytes */
	double base;     /* of the base side, 0 or above: value + base is the new side's */
	double variance; /* estimated variance of value; 0 in exact mode */
	double samples;  /* number of samples behind it */
	double unit;     /* what R bytes are worth in it: how much may hide between two samples; 0 in exact mode */
	double passed;   /* of a total: what was allocated and could not be sampled, at most; all, part or nothing of it belongs here */
	/* Beside it, where known. Blocks are weighed like the rest. */
	double slack;              /* usable bytes beyond those requested, of the blocks that `value` counts */
	double live, age_ns;       /* blocks in use, and the sum of their ages */
	double freed, lifetime_ns; /* blocks that were freed, and the sum of their lifetimes */
};
void estimate_add(struct estimate *to, const struct estimate *from);
/* The contribution of count sampled objects with bytes in all, at mean interval R. */
struct estimate estimate_row(uint64_t count, uint64_t bytes, uint64_t interval, enum sample_type type);
/* Of the profile that the row is of: where its caveats withdraw the interval, there is none, as if all had been counted. */
struct estimate estimate_of(const struct profile *profile, const struct profile_row *row, enum sample_type type);
/* A thread's part of a row: all blocks of a row weigh the same, so that the parts add up to it. NULL = the whole row. */
struct estimate estimate_part(const struct profile *profile, const struct profile_row *row, const struct part *part, enum sample_type type);
/* Of all rows. What was passed over may be behind any of them, be they a part that a filter has left. */
struct estimate estimate_total(const struct profile *profile, enum sample_type type);
/* To a whole number that a file can hold. */
uint64_t estimate_round(double value);
/* 95 % interval; right for few samples too. */
void estimate_interval(const struct estimate *estimate, double *out_low, double *out_high);

#endif
