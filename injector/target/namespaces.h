/* SPDX-License-Identifier: MIT */
/*
 * namespaces.h - the numbers that a process in other namespaces has for the same processes and
 * users.
 */
#ifndef HI_NAMESPACES_H
#define HI_NAMESPACES_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether the process is in another namespace of this kind ("pid", "mnt", "user") than the caller.
 * False also if that cannot be known.
 */
bool namespaces_differ(pid_t pid, const char *kind);
/* The number that viewer has for pid; 0 = none, or not known. */
pid_t namespaces_pid(pid_t viewer, pid_t pid);
/* The process that has this number for viewer; 0 = none is seen. */
pid_t namespaces_find(pid_t viewer, pid_t inner);
/* The number that viewer has for a user; (uid_t)-1 = none, or not known. */
uid_t namespaces_uid(pid_t viewer, uid_t uid);

/* The parsers: of the status files of both, and of /proc/PID/uid_map. */
pid_t namespaces_pid_parse(const char *viewer_status, const char *status);
uid_t namespaces_uid_parse(const char *map, uid_t uid);

#endif
