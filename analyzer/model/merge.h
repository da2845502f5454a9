/* SPDX-License-Identifier: MIT */
/*
 * merge.h - several profiles in one: what was counted in each adds up, or, on the base side of a comparison, counts against the rest.
 */
#ifndef HI_MERGE_H
#define HI_MERGE_H

#include "profile.h"

/*
 * Adds all of `from` to `into`, on that side. Frames, stacks and threads that are alike become one. What is known of the session as a whole (meta) is summed up
 * where that makes sense, and else is that of the first profile that was merged on the new side; a base adds none but its caveats. 0 or -ENOMEM, `into` then
 * being of no use but to be closed.
 */
int profile_merge(struct profile *into, const struct profile *from, enum profile_side side);

#endif
