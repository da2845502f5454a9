/* SPDX-License-Identifier: MIT */
/*
 * browser.h - a file shown in whatever the user's desktop shows such files in.
 */
#ifndef HI_BROWSER_H
#define HI_BROWSER_H

#include <limits.h>

#define BROWSER_PATH_MAX PATH_MAX

/* A new file for the caller alone, in $TMPDIR or /tmp, whose name has this ending. It stays: a browser may read it later. A descriptor or negative errno. */
int browser_file(const char *ending, char out_path[BROWSER_PATH_MAX]);
/* By xdg-open, which is not waited for. 0; -ENOENT: there is no display, or no xdg-open; or another negative errno. */
int browser_open(const char *path);

#endif
