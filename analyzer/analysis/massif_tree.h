/* SPDX-License-Identifier: MIT */
/* massif_tree.h - where what is in use was allocated, as the tree that massif writes and ms_print reads: from the allocation outwards to its callers. */
#ifndef HI_MASSIF_TREE_H
#define HI_MASSIF_TREE_H

#include <stdio.h>

#include "profile.h"

/* Of the profile's own side; no comparison. What is below a hundredth of the total is summed up. 0 or -ENOMEM; writing errors are the stream's. */
int massif_tree_write(const struct profile *profile, FILE *out);

#endif
