/* SPDX-License-Identifier: MIT */
/*
 * hotspot_unloads.h - the counter of unloaded classes, among the counters that a JVM shares with
 * its tools (jstat). As long as it stands still, no Method makes room for another one.
 */
#ifndef HI_HOTSPOT_UNLOADS_H
#define HI_HOTSPOT_UNLOADS_H

#include "hotspot_layout.h"

/* Where it is. -ENOENT: there is none (yet): the JVM keeps no counters (-XX:-UsePerfData). */
must_check int hotspot_unloads_find(const struct hotspot_layout *layout,
				    const struct memory *memory, remote_addr *out_counter);

#endif
