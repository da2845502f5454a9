/* SPDX-License-Identifier: MIT */
/* snapshot.h - the facts about a target that must be the same after detach: struct hi_snapshot of hi_wire.h, taken from /proc. */
#ifndef HI_SNAPSHOT_H
#define HI_SNAPSHOT_H

#include "hi_wire.h"
#include "procfs.h"

/* map_count leaves out whatever carries the name of our memfd: it counts the mappings of the target itself. */
must_check int snapshot_take(pid_t pid, pid_t tid, struct hi_snapshot *out_snapshot);
/* Lines of maps that carry our memfd's name: what lies in [lo, hi) or is the payload's own file, and inert gates that earlier sessions had to leave. */
struct snapshot_left {
	size_t of_session, earlier;
};
must_check int snapshot_left(pid_t pid, pid_t tid, remote_addr lo, remote_addr hi, struct snapshot_left *out_left);

#endif
