/* SPDX-License-Identifier: MIT */
/*
 * outputs.h - the files of a session: named, and created before the target is touched, so that an unwritable folder costs nothing.
 *
 * Those of the end are there from the beginning, empty: if we are killed the analyzer still writes them. A dump in mid-session gets the number that they had,
 * once it is whole, and they move on to the next free one. So the numbers of a session are in the order of time, and the last is the end.
 *
 * They are created with the rights of the user who called, also under sudo, and belong to that user. So no path can lead root to where the user could not have
 * written, and a home on a file server that distrusts root works, too. What the user may not write, sudo does not help with: -EACCES. Links that others laid
 * out are not followed.
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
	char heap_path[PATH_MAX], pprof_path[PATH_MAX]; /* of the end */
	int heap_fd, pprof_fd, folder_fd;
	const char *prefix; /* the caller's, who leaves it as it is */
	pid_t pid;
	unsigned number;
	size_t keep; /* set by who creates them: how many dumps are to be there at a time, older ones are removed; 0 = all */
	struct kept_dump *kept;
	size_t kept_count;
};

struct outputs_dump {
	char heap_path[PATH_MAX], pprof_path[PATH_MAX]; /* first those of temporary files */
	int heap_fd, pprof_fd;
};

/*
 * Creates PREFIX.PID.NNNN.heap and .pb.gz, NNNN the first free number from 0001. Never opens what exists. Negative errno, nothing left behind; -ELOOP: somebody
 * else's link is on the way.
 */
int outputs_create(struct outputs *outputs, const char *prefix, pid_t pid);
/* Those of the end that nothing was written to, once who writes them is done. out_removed: .heap, .pb.gz. */
void outputs_remove_empty(const struct outputs *outputs, bool out_removed[2]);
/* remove: nothing was collected. */
void outputs_close(struct outputs *outputs, bool remove);

/* Creates two files to be written, under names that end in .tmp. Negative errno, nothing left behind. */
must_check int outputs_dump_open(struct outputs *outputs, struct outputs_dump *out_dump);
/* They are whole, and get their number; out_dump's paths are the final ones then. Negative errno: they are removed. Both ways they are closed. */
must_check int outputs_dump_publish(struct outputs *outputs, struct outputs_dump *dump);
void outputs_dump_discard(struct outputs *outputs, struct outputs_dump *dump);
/* The same path for who has another working directory; as it is if that cannot be told. */
void outputs_absolute(const struct outputs *outputs, const char *path, char out_path[PATH_MAX]);

#endif
