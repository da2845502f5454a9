/* SPDX-License-Identifier: MIT */
/*
 * percent_base.h - what the percentages of a view are of.
 *
 * For one profile that is everything in it, even where a filter shows only a part; or only that
 * part. For a comparison it is either what the base has (how much did it change?) or the sum of all
 * differences, up or down (which share of the change is whose?). pprof calls the former -diff_base
 * and the latter -base.
 */
#ifndef HI_PERCENT_BASE_H
#define HI_PERCENT_BASE_H

#include "profile.h"

enum percent_base_of { PERCENT_BASE_CHANGES, PERCENT_BASE_BASE };

/*
 * Sets profile.meta.percent_base for every sample type. `of` has no effect if there is no base, or
 * if the base is empty: nothing can be a share of it. Differences are taken by stack, mean block
 * size and thread, as far as these are known, so that the sum is pprof's. Stacks are the same if
 * they lead through the same places of the same objects, wherever these were loaded. 0 or -ENOMEM.
 */
int percent_base_set(struct profile *profile, enum percent_base_of of);
/* Adds to `sum` what percentages of the profile alone would be of. 0 or -ENOMEM. */
int percent_base_add(const struct profile *profile, double sum[PROFILE_VALUES]);
/*
 * The same for the profile `left`, which a filter has made of `before`. origin: by row, the row of
 * `before` that it is made of. Differences are taken by the stacks and sizes of `before`, because
 * the filter may have made one of several. 0 or -ENOMEM.
 */
int percent_base_set_relative(struct profile *left, enum percent_base_of of,
			      const struct profile *before, const uint32_t *origin);

#endif
