/* SPDX-License-Identifier: MIT */
/*
 * thinned_due.h - how much was due of each key of struct hi_thinning (hi_wire.h) while it was
 * thinned, by how coarse the interval was. Zero-initialized = nothing.
 */
#ifndef HI_INJECTOR_THINNED_DUE_H
#define HI_INJECTOR_THINNED_DUE_H

#include <stddef.h>
#include <stdint.h>

#include "hi_wire.h"

struct thinned_due {
	struct thinned_due_sum {
		float count; /* allocations */
		float drawn; /* the sum of the intervals with which their countdowns were drawn */
	} at[HI_THINNING_KEYS][HI_INTERVAL_SHIFT_MAX + 1];
};

/* So many allocations that were due. shift: the sum of both shifts, as in their records. */
struct thinned_due_part {
	uint32_t count, shift;
	double drawn; /* the interval with which their countdowns were drawn */
};

void thinned_due_add(struct thinned_due *due, size_t key, const struct thinned_due_part *part);
/*
 * How much may lie between two samples of a key: the coarsest interval of those that were in force
 * while half as many bytes more were due, at least; if fewer were due, two thirds of them. 0 = none
 * were thinned. interval: the finest. size: of an allocation, in the mean.
 */
uint64_t thinned_due_grain(const struct thinned_due *due, size_t key, uint64_t interval,
			   double size);

#endif
