/* SPDX-License-Identifier: MIT */
/* snapshots.c - see snapshots.h. */
#include "snapshots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "estimate.h"
#include "massif_tree.h"
#include "table.h"

int snapshots_add(struct snapshots *snapshots, const struct profile *profile)
{
	const struct estimate total = estimate_total(profile, INUSE_SPACE);
	const uint64_t start_ns = profile->meta.start_unix_ns;
	struct snapshot snapshot = {.time_ns = start_ns ? start_ns + profile->meta.duration_ns : 0,
				    .bytes = total.value,
				    .slack = total.slack};
	size_t size;
	FILE *out = open_memstream(&snapshot.tree, &size);
	int err = out ? massif_tree_write(profile, out) : -ENOMEM;

	if (out && fclose(out))
		err = -ENOMEM;
	if (!err && array_reserve(&snapshots->snapshot, &snapshots->capacity, snapshots->count,
				  sizeof(snapshot)))
		err = -ENOMEM;
	if (err) {
		free(snapshot.tree);
		return err;
	}
	snapshots->snapshot[snapshots->count++] = snapshot;
	return 0;
}

/* Insertion sort, which is stable: there are few snapshots, mostly in order. */
bool snapshots_sort(struct snapshots *snapshots)
{
	struct snapshot *at = snapshots->snapshot;

	for (size_t i = 0; i < snapshots->count; i++) {
		if (!at[i].time_ns)
			return false;
	}
	for (size_t i = 1; i < snapshots->count; i++) {
		const struct snapshot moved = at[i];
		size_t to = i;

		for (; to > 0 && at[to - 1].time_ns > moved.time_ns; to--)
			at[to] = at[to - 1];
		at[to] = moved;
	}
	return true;
}

void snapshots_close(struct snapshots *snapshots)
{
	for (size_t i = 0; i < snapshots->count; i++)
		free(snapshots->snapshot[i].tree);
	free(snapshots->snapshot);
	*snapshots = (struct snapshots){0};
}
