/* SPDX-License-Identifier: MIT */
/*
 * guard_place.h - where `heapinject guard` itself is: outside the memory limit that it watches, so
 * that it neither takes of the process's room nor is killed with it.
 */
#ifndef HI_GUARD_PLACE_H
#define HI_GUARD_PLACE_H

#include <limits.h>
#include <stdbool.h>

#include "memory_watch.h"
#include "must_check.h"

/* Whether a cgroup is `above` or below it, by their directories. */
bool guard_place_is_below(const char *path, const char *above);
/*
 * The next directory to move to, above `path` in a hierarchy whose directory is `root`: path is
 * cut. False: there is none.
 */
bool guard_place_next(char path[PATH_MAX], const char *root);
/*
 * Leaves the limited cgroup, if this process lies in it. Where it has no right to, and where the
 * limit is the machine's, the kernel is asked to spare it. Says what could not be done. False: it
 * is in the limited cgroup still, and each byte that it has is missing there.
 */
bool guard_place_settle(const struct memory_watch *watch, bool verbose);

#endif
