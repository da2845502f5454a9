/* SPDX-License-Identifier: MIT */
/*
 * browser.h - shows a file in the desktop's program for files of its type.
 */
#ifndef HI_BROWSER_H
#define HI_BROWSER_H

#include <limits.h>

#define BROWSER_PATH_MAX PATH_MAX

/*
 * Creates a new file that only the caller can access, in $TMPDIR or /tmp. Its name ends with
 * `ending`. The file is not removed, since a browser may read it later. Returns a descriptor or
 * negative errno.
 */
int browser_file(const char *ending, char out_path[BROWSER_PATH_MAX]);
/*
 * Runs xdg-open without waiting for it. Returns 0; -ENOENT: there is no display, or no xdg-open; or
 * another negative errno.
 */
int browser_open(const char *path);

#endif
