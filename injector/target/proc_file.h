/* SPDX-License-Identifier: MIT */
/*
 * proc_file.h - the files of /proc: where they are, how they are opened, and one whole file in
 * memory. No other file of injector/ and cmd/ makes up a path of /proc/PID. What is in the files is
 * read by procfs.h.
 */
#ifndef HI_PROC_FILE_H
#define HI_PROC_FILE_H

#include <dirent.h>
#include <stddef.h>
#include <sys/types.h>

#include "must_check.h"

struct proc_path {
	char text[96];
};
/* Path of a file of /proc/PID/task/TID, or of /proc/PID if tid is 0; "" is the directory itself. */
struct proc_path proc_path(pid_t pid, pid_t tid, const char *name);
/* The path by which a descriptor of our own leads to its file: to open it anew, or to ask its name.
 */
struct proc_path proc_path_of_fd(int fd);
/* Opens the file at proc_path with these flags and O_CLOEXEC. -ESRCH: as below. */
must_check int proc_open(pid_t pid, pid_t tid, const char *name, int flags, int *out_fd);
/* The next process in a stream that opendir("/proc") has opened; 0: there is no further one. */
#define PROC_DIRECTORY "/proc"
pid_t proc_next(DIR *proc);
/* The number in a file of /proc/sys, as "kernel/pid_max"; 0: it cannot be read. */
long proc_sys_number(const char *name);

/*
 * Reads /proc/PID/task/TID/name, or /proc/PID/name if tid is 0. The text is NUL-terminated, and the
 * caller frees it. out_size (may be NULL) does not count the terminator. -ESRCH: no such process or
 * thread, or it has just exited.
 */
must_check int proc_file_read(pid_t pid, pid_t tid, const char *name, char **out_text,
			      size_t *out_size);

#endif
