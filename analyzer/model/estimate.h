/* SPDX-License-Identifier: MIT */
/*
 * estimate.h - from sampled counts to estimates with intervals. Derivation and sources:
 * docs/sampling.md.
 */
#ifndef HI_ESTIMATE_H
#define HI_ESTIMATE_H

#include "sample_types.h"

/*
 * A sum of unbiased weights, with what its interval needs. Zero-initialized = nothing.
 * estimate_add() adds independent estimates field by field; of `unit` it keeps the larger one. In a
 * comparison `value` is the difference: the new side minus the base.
 */
struct estimate {
	double value;    /* unbiased: objects or bytes */
	double base;     /* the base side's sum, 0 or above; value + base is the new side's */
	double variance; /* estimated variance of value; 0 in exact mode */
	double samples;  /* number of samples in it */
	/*
	 * how many objects or bytes of this kind R bytes hold: as much may go unsampled between two
	 * samples; 0 in exact mode
	 */
	double unit;
	/*
	 * of a total: at most this much was allocated but could not be sampled; all, part or none
	 * of it belongs to this sum
	 */
	double passed;
	/* Further figures, where known. Their blocks are weighted in the same way. */
	/* usable bytes beyond those requested, of the blocks that `value` counts */
	double slack;
	double live, age_ns;       /* blocks in use, and the sum of their ages */
	double freed, lifetime_ns; /* blocks that were freed, and the sum of their lifetimes */
};
static inline void estimate_add(struct estimate *to, const struct estimate *from)
{
	to->value += from->value;
	to->base += from->base;
	to->variance += from->variance;
	to->samples += from->samples;
	to->unit = from->unit > to->unit ? from->unit : to->unit;
	to->passed += from->passed;
	to->slack += from->slack;
	to->live += from->live;
	to->age_ns += from->age_ns;
	to->freed += from->freed;
	to->lifetime_ns += from->lifetime_ns;
}
/*
 * The contribution of `count` sampled objects with `bytes` bytes in all, at mean interval R
 * (`interval`).
 */
struct estimate estimate_row(uint64_t count, uint64_t bytes, uint64_t interval,
			     enum sample_type type);
/*
 * The estimate of a row of this profile. Where the profile's caveats withdraw the interval, the
 * estimate has none, as if every allocation had been counted. Of a type that the profile does not
 * have it is nothing.
 */
struct estimate estimate_of(const struct profile *profile, const struct profile_row *row,
			    enum sample_type type);
/* Those of all types, in less time than one by one. */
void estimates_of(const struct profile *profile, const struct profile_row *row,
		  struct estimate out_estimate[SAMPLE_TYPE_COUNT]);
/*
 * The estimate of a thread's part of a row; part NULL = the whole row. All blocks of a row have the
 * same weight, so the parts add up to the row.
 */
struct estimate estimate_part(const struct profile *profile, const struct profile_row *row,
			      const struct part *part, enum sample_type type);
/* The type that means are of, which pprof has first: objects. */
enum sample_type estimate_first_type(const struct profile *profile);
/* value / divisor in whole numbers, as pprof's mean; a divisor of 0 divides nothing. */
double estimate_mean(double value, double divisor);
/*
 * The sum of all rows. The allocations that were passed over may belong to any row, so a profile of
 * which a filter has left a part keeps all of `passed`.
 */
struct estimate estimate_total(const struct profile *profile, enum sample_type type);
/*
 * Scales the new side of a comparison so that its total of each type is that of the base
 * (meta.new_scale), as pprof's normalize.
 */
void estimate_normalize(struct profile *profile);
/* Rounds to a whole number that a file can hold. */
uint64_t estimate_round(double value);
/* The 95 % interval, which is also right for few samples. */
void estimate_interval(const struct estimate *estimate, double *out_low, double *out_high);

#endif
