/* SPDX-License-Identifier: MIT */
/*
 * snapshots.h - what was in use at the end of each of several files: the points of a massif graph.
 *
 * Filled while the files are loaded, each before it is merged with the others. Small whatever the files hold: of each stack what is above a hundredth of the
 * total is kept, as the text that massif writes. Zero-initialized = empty.
 */
#ifndef HI_SNAPSHOTS_H
#define HI_SNAPSHOTS_H

#include "profile.h"

struct snapshot {
	uint64_t time_ns; /* since the epoch; 0 = unknown */
	double bytes;     /* in use */
	double slack;     /* usable bytes beyond those requested */
	char *tree;       /* where they were allocated: lines of massif's tree */
};
struct snapshots {
	struct snapshot *snapshot;
	size_t count, capacity;
};

/* The profile, with symbols, as one more. 0 or -ENOMEM. */
int snapshots_add(struct snapshots *snapshots, const struct profile *profile);
/* In the order of their times, if all have one; then true. Else they stay as they are. */
bool snapshots_sort(struct snapshots *snapshots);
void snapshots_close(struct snapshots *snapshots);

#endif
