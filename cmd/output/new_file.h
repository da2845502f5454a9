/* SPDX-License-Identifier: MIT */
/* new_file.h - a file that a command writes, by the path that the user gives. */
#ifndef HI_NEW_FILE_H
#define HI_NEW_FILE_H

/*
 * Creates it with the rights of the calling user, also under sudo, as outputs.h has it. Never opens
 * an existing file. Returns the descriptor, or negative errno.
 */
int new_file_create(const char *path);

#endif
