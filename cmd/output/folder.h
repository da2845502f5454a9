/* SPDX-License-Identifier: MIT */
/* folder.h - the way to a folder, walked without falling into a link that somebody else laid out. */
#ifndef HI_FOLDER_H
#define HI_FOLDER_H

#include "memory.h"

/*
 * Opens the folder in which path lies, with O_PATH: what stands before its last slash. Symbolic links are followed, but not those in a folder that everybody
 * may write (/tmp) unless they belong to us or to the folder's owner: -ELOOP. That is what Linux does by itself where fs.protected_symlinks is set.
 */
must_check int folder_open(const char *path, int *out_fd);

#endif
