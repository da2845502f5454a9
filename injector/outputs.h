/* SPDX-License-Identifier: MIT */
/*
 * outputs.h - the files of a session: named, and created before the target is touched, so that an unwritable folder costs nothing.
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

struct outputs {
	char heap_path[PATH_MAX], pprof_path[PATH_MAX];
	int heap_fd, pprof_fd, folder_fd;
};

/*
 * Creates PREFIX.PID.NNNN.heap and .pb.gz, NNNN the first free number from 0001. Never opens what exists. Negative errno, nothing left behind; -ELOOP: somebody
 * else's link is on the way.
 */
int outputs_create(struct outputs *outputs, const char *prefix, pid_t pid);
/* remove: nothing was collected. */
void outputs_close(struct outputs *outputs, bool remove);

#endif
