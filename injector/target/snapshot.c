/* SPDX-License-Identifier: MIT */
/* snapshot.c - see snapshot.h. */
#include "snapshot.h"

#include <string.h>

#include "probes_name.h"

static bool is_ours(const struct mapping *mapping)
{
	return !strncmp(mapping->path, "/memfd:" HI_MEMFD_NAME,
			sizeof("/memfd:" HI_MEMFD_NAME) - 1) ||
	       is_probes_name(mapping->path);
}

/* Is it the arena's file, and not the payload's? */
static bool is_arena(const struct mapping *mapping)
{
	return !strcmp(mapping->path, "/memfd:" HI_MEMFD_NAME);
}

int snapshot_left(pid_t pid, pid_t tid, remote_addr lo, remote_addr hi,
		  struct snapshot_left *out_left)
{
	struct snapshot_left left = {0};
	struct maps maps;
	int err = maps_read(pid, tid, &maps);
	if (err)
		return err;
	for (size_t i = 0; i < maps.count; i++) {
		const struct mapping *mapping = &maps.mapping[i];
		if (!is_ours(mapping))
			continue;
		if (is_arena(mapping) && (mapping->lo >= hi || mapping->hi <= lo))
			left.earlier++;
		else
			left.of_session++;
	}
	maps_close(&maps);
	*out_left = left;
	return 0;
}

int snapshot_take(pid_t pid, pid_t tid, struct hi_snapshot *out_snapshot)
{
	struct hi_snapshot snapshot = {0};
	struct proc_status status;
	struct maps maps;
	size_t fds;
	int err = proc_status_read(pid, tid, &status);
	if (!err)
		err = proc_fd_count(pid, &fds);
	if (!err)
		err = maps_read(pid, tid, &maps);
	if (err)
		return err;
	for (size_t i = 0; i < maps.count; i++)
		snapshot.map_count += !is_ours(&maps.mapping[i]);
	maps_close(&maps);
	snapshot.fd_count = fds;
	snapshot.thread_count = status.threads;
	snapshot.sig_blocked = status.sig_blocked;
	snapshot.sig_ignored = status.sig_ignored;
	snapshot.sig_caught = status.sig_caught;
	*out_snapshot = snapshot;
	return 0;
}
