/* SPDX-License-Identifier: MIT */
/* outputs.h - the files of a session: named, and created before the target is touched, so that an unwritable folder costs nothing. */
#ifndef HI_OUTPUTS_H
#define HI_OUTPUTS_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct outputs {
	char heap_path[PATH_MAX], pprof_path[PATH_MAX];
	int heap_fd, pprof_fd;
};

/* Creates PREFIX.PID.NNNN.heap and .pb.gz, NNNN the first free number from 0001. Never opens what exists. Negative errno, nothing left behind. */
int outputs_create(struct outputs *outputs, const char *prefix, pid_t pid);
/* remove: nothing was collected. */
void outputs_close(struct outputs *outputs, bool remove);

#endif
