/* SPDX-License-Identifier: MIT */
/*
 * outputs.h - the output files of a session. They are named and created before the target is
 * touched, so that an unwritable directory is found out in time.
 *
 * The session's final files, those that the analyzer writes when the session ends, exist from the
 * beginning, empty: if the injector is killed, the analyzer still writes them. When a dump in
 * mid-session is complete, it gets the number that the final files had, and these are renamed to
 * the next free number. So the numbers of a session are in the order of time, and the highest
 * belongs to the final files. The session's process holds a record lock on these two (fcntl), so
 * that a reader of an empty file knows whether it will be written (analyzer/io/file_writer.h).
 *
 * The files are created with the rights of the calling user, also under sudo, and belong to that
 * user. So no path can lead root to where the user could not have written, and a home directory on
 * a file server that does not trust root works, too. Sudo does not give access to what the user may
 * not write: -EACCES. Symbolic links that other users created are not followed.
 */
#ifndef HI_OUTPUTS_H
#define HI_OUTPUTS_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "memory.h"

struct kept_dump {
	unsigned number;
	dev_t device;
	ino_t inode[2]; /* .heap, .pb.gz */
};

struct outputs {
	char heap_path[PATH_MAX], pprof_path[PATH_MAX]; /* of the final files */
	int heap_fd, pprof_fd, directory_fd;
	/* owned by the caller, who must not change it while the session lasts */
	const char *prefix;
	pid_t pid;
	unsigned number;
	/*
	 * set by the caller of outputs_create: number of dumps to keep at a time, older ones are
	 * removed; 0 = all
	 */
	size_t keep;
	bool syncs;     /* set by the caller: a dump is on the disk before it has its final name */
	bool is_pushed; /* set by the caller: it wants to read what was published */
	struct kept_dump *kept;
	size_t kept_count;
};

struct outputs_dump {
	/* paths of temporary files, until the dump is published */
	char heap_path[PATH_MAX], pprof_path[PATH_MAX];
	int heap_fd, pprof_fd;
	/*
	 * once it is published: the .pb.gz for reading, which the caller closes, if
	 * outputs.is_pushed is set; -1 = it is not, or the file cannot be read
	 */
	int read_fd;
};

/*
 * Creates PREFIX.PID.NNNN.heap and .pb.gz, where NNNN is the first free number from 0001. Never
 * opens an existing file. Returns 0, or negative errno with nothing left behind; -ELOOP: a symbolic
 * link of another user is in the path.
 */
int outputs_create(struct outputs *outputs, const char *prefix, pid_t pid);
/*
 * Removes those of the final files that nothing was written to. To be called once the analyzer has
 * finished writing. out_removed: for .heap, for .pb.gz.
 */
void outputs_remove_empty(const struct outputs *outputs, bool out_removed[2]);
/*
 * Creates PREFIX.PID.NNNN.SUFFIX with the rights of the caller, or, if there is one, .1.SUFFIX and
 * so on. Returns the descriptor, or negative errno.
 */
int outputs_create_beside(const struct outputs *outputs, const char *suffix,
			  char out_path[PATH_MAX]);
/* remove: delete the final files, as nothing was collected. */
void outputs_close(struct outputs *outputs, bool remove);

/*
 * Creates two files for a dump, under names that end in .tmp. Returns 0, or negative errno with
 * nothing left behind.
 */
must_check int outputs_dump_open(struct outputs *outputs, struct outputs_dump *out_dump);
/*
 * Gives a complete dump its number; its paths in `dump` are then the final ones. On negative errno
 * the files are removed. The descriptors are closed in both cases.
 */
must_check int outputs_dump_publish(struct outputs *outputs, struct outputs_dump *dump);
/* The final .pb.gz, complete, for reading; -1 = it cannot be read. The caller closes it. */
int outputs_read_final(const struct outputs *outputs);
void outputs_dump_discard(struct outputs *outputs, struct outputs_dump *dump);
/*
 * The absolute form of a path of the session, for a process with another working directory. If it
 * cannot be determined, the path unchanged.
 */
void outputs_absolute(const struct outputs *outputs, const char *path, char out_path[PATH_MAX]);

#endif
