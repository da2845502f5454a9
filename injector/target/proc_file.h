/* SPDX-License-Identifier: MIT */
/* proc_file.h - one whole file of /proc/PID in memory. For the readers in procfs.c and maps.c. */
#ifndef HI_PROC_FILE_H
#define HI_PROC_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "memory.h"

/*
 * Reads /proc/PID/task/TID/name, or /proc/PID/name if tid is 0. The text is NUL-terminated, and the
 * caller frees it. out_size (may be NULL) does not count the terminator. -ESRCH: no such process or
 * thread, or it has just exited.
 */
must_check int proc_file_read(pid_t pid, pid_t tid, const char *name, char **out_text,
			      size_t *out_size);

#endif
