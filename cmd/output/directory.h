/* SPDX-License-Identifier: MIT */
/* directory.h - opens a directory without following symbolic links that other users created. */
#ifndef HI_DIRECTORY_H
#define HI_DIRECTORY_H

#include "memory.h"

/*
 * Opens, with O_PATH, the directory that contains path: the part of path before its last slash.
 * Symbolic links are followed, except those in a directory that everybody may write to (/tmp),
 * unless the link belongs to the calling user or to the owner of the directory: -ELOOP otherwise.
 * Linux does the same by itself if fs.protected_symlinks is set. Negative errno; *out_fd belongs to
 * the caller.
 */
must_check int directory_open(const char *path, int *out_fd);

#endif
