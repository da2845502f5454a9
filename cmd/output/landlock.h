/* SPDX-License-Identifier: MIT */
/*
 * landlock.h - takes from a process the files that it does not need, by path, for the case that its
 * user may read and write more. A kernel without Landlock (before 5.13, or with another choice of
 * security modules) leaves them.
 */
#ifndef HI_LANDLOCK_H
#define HI_LANDLOCK_H

#include "memory.h"

/*
 * From here on the process may read below those of these directories and files that exist, create,
 * change and remove plain files directly or further below the directory that is open as `writable`,
 * and nothing else of the file system. The last of `readable` is NULL. no_new_privs must be set.
 * Negative errno: nothing has changed.
 */
must_check int landlock_restrict(const char *const *readable, int writable);

#endif
