/* SPDX-License-Identifier: MIT */
/*
 * massif_tree.h - where the memory in use was allocated, as the tree that massif writes and
 * ms_print reads: from the allocation outwards to its callers.
 */
#ifndef HI_MASSIF_TREE_H
#define HI_MASSIF_TREE_H

#include <stdio.h>

#include "profile.h"

/*
 * Writes the tree. The profile must not be a comparison. Nodes below a hundredth of the total are
 * added up. Returns 0 or -ENOMEM. The caller checks the stream for write errors.
 */
int massif_tree_write(const struct profile *profile, FILE *out);

#endif
