/* SPDX-License-Identifier: MIT */
/* outputs.c - see outputs.h. */
#include "outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define NUMBER_MAX 9999

static int create(char path[PATH_MAX], const char *prefix, pid_t pid, unsigned number, const char *suffix)
{
	if (snprintf(path, PATH_MAX, "%s.%d.%04u.%s", prefix, (int)pid, number, suffix) >= PATH_MAX)
		return -ENAMETOOLONG;
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return fd < 0 ? -errno : fd;
}

int outputs_create(struct outputs *outputs, const char *prefix, pid_t pid)
{
	for (unsigned number = 1; number <= NUMBER_MAX; number++) {
		outputs->heap_fd = create(outputs->heap_path, prefix, pid, number, "heap");
		if (outputs->heap_fd == -EEXIST)
			continue;
		if (outputs->heap_fd < 0)
			return outputs->heap_fd;
		outputs->pprof_fd = create(outputs->pprof_path, prefix, pid, number, "pb.gz");
		if (outputs->pprof_fd >= 0)
			return 0;
		const int err = outputs->pprof_fd;
		unlink(outputs->heap_path);
		close(outputs->heap_fd);
		if (err != -EEXIST)
			return err;
	}
	return -EEXIST;
}

void outputs_close(struct outputs *outputs, bool remove)
{
	if (remove) {
		unlink(outputs->heap_path);
		unlink(outputs->pprof_path);
	}
	close(outputs->heap_fd);
	close(outputs->pprof_fd);
}
