/* SPDX-License-Identifier: MIT */
/*
 * merge.h - merges several profiles into one: counts add up or, on the base side of a comparison,
 * count negatively.
 */
#ifndef HI_MERGE_H
#define HI_MERGE_H

#include "profile.h"

/*
 * Adds all of `from` to `into`, on the given side. Equal frames, stacks and threads become one.
 * Facts about the session as a whole (meta) are summed up where that makes sense; the window is the
 * longest; the others are those of the first profile that was merged on the new side. A sum has no
 * process number. A base adds only its caveats to meta.
 * 0, or -ENOMEM: then `into` can only be closed.
 */
int profile_merge(struct profile *into, const struct profile *from, enum profile_side side);

#endif
