/* SPDX-License-Identifier: MIT */
/*
 * percent_base.h - what the percentages of a view are of.
 *
 * Of one profile that is all there is in it, also where a filter shows only a part, or that part. Of a comparison it is either what the base has (how much
 * did it change?) or the sum of all differences, up or down (who has what share in the change?). pprof calls the former -diff_base and the latter -base.
 */
#ifndef HI_PERCENT_BASE_H
#define HI_PERCENT_BASE_H

#include "profile.h"

enum percent_base_of { PERCENT_BASE_CHANGES, PERCENT_BASE_BASE };

/*
 * Sets profile.meta.percent_base for every sample type. Where there is no base, it does not matter which is asked for; nor where the base is empty, of which
 * nothing can be a share. Differences are taken by stack, mean size of blocks and thread, as far as these are known, so that the sum is pprof's; stacks are
 * the same if they lead through the same places of the same objects, wherever these were loaded. 0 or -ENOMEM.
 */
int percent_base_set(struct profile *profile, enum percent_base_of of);
/*
 * The same for what a filter has left of the profile `before`; origin: by row, of which row of `before` it was left. Differences are taken by what stacks and
 * sizes were there, for the filter may have made one of several. 0 or -ENOMEM.
 */
int percent_base_set_relative(struct profile *left, enum percent_base_of of, const struct profile *before, const uint32_t *origin);

#endif
