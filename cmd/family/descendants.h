/* SPDX-License-Identifier: MIT */
/*
 * descendants.h - processes that descend from those of a family, and that have another parent. A
 * daemon forks twice, its parent ends at once, and init or a subreaper adopts it: no look at the
 * children of members (children.h) finds it.
 *
 * What fork copies tells whose it is: the mappings of the session's memory file (arena.h), by the
 * inode of that. So a process is not found that was forked before the session had attached or after
 * it had detached, unless its parent lives, nor one that has executed another program. Sessions and
 * what they fork map that file, too, but not as a target does.
 *
 * A look examines only processes that have come since the last one, and reads the mappings only of
 * those whose auxiliary vector is that of a member: mostly it costs a listing of /proc. While a
 * session attaches, its memory file is not known, and what has come is examined again.
 */
#ifndef HI_DESCENDANTS_H
#define HI_DESCENDANTS_H

#include <stddef.h>
#include <sys/types.h>

#include "children.h"
#include "member.h"
#include "must_check.h"

/* Zero-initialized = no look was taken. */
struct descendants {
	/* of all processes at the last look at which all memory files were known, ascending */
	pid_t *pid;
	size_t count;
};

/* Those that are there already are no news. 0 or negative errno. */
must_check int descendants_begin(struct descendants *descendants);
/* Adds those that are new to `children`, as children of the member from which they descend. */
must_check int descendants_look(struct descendants *descendants, const struct members *members,
				struct children *children);
void descendants_close(struct descendants *descendants);

#endif
