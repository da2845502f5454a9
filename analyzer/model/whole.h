/* SPDX-License-Identifier: MIT */
/*
 * whole.h - what the percentages of a view are of.
 *
 * Of one profile that is all there is in it, also where a filter shows only a part, or that part. Of a comparison it is either what the base has (how much
 * did it change?) or the sum of all differences, up or down (who has what share in the change?). pprof calls the former -diff_base and the latter -base.
 */
#ifndef HI_WHOLE_H
#define HI_WHOLE_H

#include "profile.h"

enum whole_of { WHOLE_OF_CHANGES, WHOLE_OF_BASE };

/*
 * Sets profile.meta.whole for every sample type. Where there is no base, it does not matter which is asked for; nor where the base is empty, of which
 * nothing can be a share. Differences are taken by stack, mean size of blocks and thread, as far as these are known, so that the sum is pprof's; stacks are
 * the same if they lead through the same places of the same objects, wherever these were loaded. 0 or -ENOMEM.
 */
int whole_set(struct profile *profile, enum whole_of of);
/*
 * The same for what a filter has left of the profile `before`; origin: by row, of which row of `before` it was left. Differences are taken by what stacks and
 * sizes were there, for the filter may have made one of several. 0 or -ENOMEM.
 */
int whole_set_relative(struct profile *left, enum whole_of of, const struct profile *before, const uint32_t *origin);

#endif
