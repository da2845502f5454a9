/* SPDX-License-Identifier: MIT */
/*
 * snapshots.h - what was in use at the end of each of several files: the points of a massif graph.
 *
 * The caller adds each file while it loads the files, before it merges the file with the others. A
 * snapshot is small whatever its file holds: it keeps the stacks that hold more than a hundredth of
 * the total, as the text that massif writes. Zero-initialized snapshots are empty.
 */
#ifndef HI_SNAPSHOTS_H
#define HI_SNAPSHOTS_H

#include "profile.h"

struct snapshot {
	uint64_t time_ns; /* since the epoch; 0 = unknown */
	double bytes;     /* in use */
	double slack;     /* usable bytes beyond those requested */
	char *tree;       /* where these bytes were allocated: lines of massif's tree */
};
struct snapshots {
	struct snapshot *snapshot;
	size_t count, capacity;
};

/* Adds the profile, whose symbols are resolved, as one snapshot. Returns 0 or -ENOMEM. */
int snapshots_add(struct snapshots *snapshots, const struct profile *profile);
/*
 * Sorts the snapshots by time and returns true if all have a time. Otherwise their order does not
 * change.
 */
bool snapshots_sort(struct snapshots *snapshots);
void snapshots_close(struct snapshots *snapshots);

#endif
