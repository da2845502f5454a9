/* SPDX-License-Identifier: MIT */
/* thinned_due.c - see thinned_due.h. */
#include "thinned_due.h"

#include <math.h>

/*
 * Of what was due. An interval reaches up to three grains beyond what was seen, so this is twice
 * all of it: what was due is a sample itself, and a function's sizes have grains of which only the
 * largest counts.
 */
#define ESCAPED (2.0 / 3)
#define GRAIN_MAX (1ull << HI_ARCH_ADDRESS_BITS) /* no block is larger */

void thinned_due_add(struct thinned_due *due, size_t key, const struct thinned_due_part *part)
{
	if (key >= HI_THINNING_KEYS || part->shift > HI_INTERVAL_SHIFT_MAX)
		return;
	struct thinned_due_sum *sum = &due->at[key][part->shift];
	sum->count += (float)part->count;
	sum->drawn += (float)(part->count * part->drawn);
}

/*
 * An allocation that is due stands for its size and one interval more, at most: it is due with a
 * probability of at least size / (interval + size).
 */
uint64_t thinned_due_grain(const struct thinned_due *due, size_t key, uint64_t interval,
			   double size)
{
	double grain = 0, bytes = 0;
	for (uint32_t shift = HI_INTERVAL_SHIFT_MAX + 1; shift--;) {
		const struct thinned_due_sum *sum = &due->at[key][shift];
		bytes += (double)sum->count * size + (double)sum->drawn;
		if (sum->count > 0)
			grain = fmax(grain,
				     fmin(ldexp((double)interval, (int)shift), bytes * ESCAPED));
	}
	return (uint64_t)fmin(grain, (double)GRAIN_MAX);
}
