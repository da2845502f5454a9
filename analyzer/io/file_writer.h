/* SPDX-License-Identifier: MIT */
/*
 * file_writer.h - tells a file that is still to be written from one that never will be.
 *
 * A session holds a record lock (fcntl) on each of its final files, which are empty until it ends
 * (cmd/output/outputs.h). The kernel drops the lock when the session ends, however it ends.
 */
#ifndef HI_FILE_WRITER_H
#define HI_FILE_WRITER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * True if another process holds a lock on the file. *out_pid: that process, or 0 if it is in
 * another pid namespace or on another machine. Takes no lock itself. Does not own fd.
 */
bool file_writer_find(int fd, pid_t *out_pid);
/*
 * True if the name is one that a session gives: PREFIX.PID.NNNN.heap or .pb.gz. *out_pid: the
 * process that the session profiles.
 */
bool file_writer_target(const char *name, pid_t *out_pid);

#endif
