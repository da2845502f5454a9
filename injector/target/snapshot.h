/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - the facts about a target that must be the same after detach: struct hi_snapshot of
 * hi_wire.h, taken from /proc.
 */
#ifndef HI_SNAPSHOT_H
#define HI_SNAPSHOT_H

#include "hi_wire.h"
#include "procfs.h"

/*
 * map_count counts the target's own mappings: those that carry the name of the injector's memfd are
 * left out.
 */
must_check int snapshot_take(pid_t pid, pid_t tid, struct hi_snapshot *out_snapshot);
/*
 * Counts the lines of maps that carry the memfd's name. of_session: those in [lo, hi) and those of
 * the payload's own file. earlier: inert gates that earlier sessions had to leave.
 */
struct snapshot_left {
	size_t of_session, earlier;
};
must_check int snapshot_left(pid_t pid, pid_t tid, remote_addr lo, remote_addr hi,
			     struct snapshot_left *out_left);

#endif
