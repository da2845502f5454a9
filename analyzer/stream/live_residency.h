/* SPDX-License-Identifier: MIT */
/*
 * live_residency.h - which bytes of the sampled live blocks are in memory, and which are swapped
 * out, by /proc/PID/pagemap of the process.
 *
 * A page counts for all blocks that lie in it, each with its own bytes. The file is read in long
 * runs, in the order of addresses. The process runs on meanwhile; the kernel holds a lock of its
 * memory for two megabytes at a time. How much is read is bounded.
 */
#ifndef HI_LIVE_RESIDENCY_H
#define HI_LIVE_RESIDENCY_H

#include "live.h"
#include "profile.h"

/*
 * Sets the resident and the swapped bytes of all rows, parts and mappings, and meta.residency,
 * which says why not if they are not known. pagemap_fd: the open file; 0 = nobody wants to know,
 * and nothing is done; negative = it could not be opened.
 */
void live_residency_measure(const struct live *live, int pagemap_fd, struct profile *profile);

#endif
