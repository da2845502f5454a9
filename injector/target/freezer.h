/* SPDX-License-Identifier: MIT */
/*
 * freezer.h - is the control group of a process frozen (docker pause, cgroup.freeze, or the freezer
 * of version 1)? A frozen thread never reaches a stop.
 */
#ifndef HI_FREEZER_H
#define HI_FREEZER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * remedy (NULL = nobody wants to know): how it is thawed, as "thaw it first (docker unpause, or
 * echo 0 >FILE)"; the file is that of the group that was frozen, which may be an ancestor, and is
 * left out where it does not fit.
 */
bool freezer_is_frozen(pid_t pid, char *remedy, size_t size);
/* The same by the text of /proc/PID/cgroup, and the directory below which the hierarchies are. */
bool freezer_is_group_frozen(const char *text, const char *root, char *remedy, size_t size);

#endif
