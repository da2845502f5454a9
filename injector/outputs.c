/* SPDX-License-Identifier: MIT */
/* outputs.c - see outputs.h. */
#include "outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"
#include "identity.h"

#define NUMBER_MAX 9999

/* The names to show lead through the same folder as the one that was opened; only their last part is used. */
static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int create(int folder, char path[PATH_MAX], const char *prefix, pid_t pid, unsigned number, const char *suffix)
{
	if (snprintf(path, PATH_MAX, "%s.%d.%04u.%s", prefix, (int)pid, number, suffix) >= PATH_MAX)
		return -ENAMETOOLONG;
	const int fd = openat(folder, last_part(path), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return fd < 0 ? -errno : fd;
}

static int create_pair(struct outputs *outputs, const char *prefix, pid_t pid)
{
	for (unsigned number = 1; number <= NUMBER_MAX; number++) {
		outputs->heap_fd = create(outputs->folder_fd, outputs->heap_path, prefix, pid, number, "heap");
		if (outputs->heap_fd == -EEXIST)
			continue;
		if (outputs->heap_fd < 0)
			return outputs->heap_fd;
		outputs->pprof_fd = create(outputs->folder_fd, outputs->pprof_path, prefix, pid, number, "pb.gz");
		if (outputs->pprof_fd >= 0)
			return 0;
		const int err = outputs->pprof_fd;
		unlinkat(outputs->folder_fd, last_part(outputs->heap_path), 0);
		close(outputs->heap_fd);
		if (err != -EEXIST)
			return err;
	}
	return -EEXIST;
}

int outputs_create(struct outputs *outputs, const char *prefix, pid_t pid)
{
	struct identity_window window;
	int err = identity_begin(identity_of_caller(), &window);

	if (err)
		return err;
	err = folder_open(prefix, &outputs->folder_fd);
	if (!err) {
		err = create_pair(outputs, prefix, pid);
		if (err)
			close(outputs->folder_fd);
	}
	identity_end(&window);
	return err;
}

static void remove_pair(const struct outputs *outputs)
{
	struct identity_window window;

	if (identity_begin(identity_of_caller(), &window))
		return;
	unlinkat(outputs->folder_fd, last_part(outputs->heap_path), 0);
	unlinkat(outputs->folder_fd, last_part(outputs->pprof_path), 0);
	identity_end(&window);
}

void outputs_close(struct outputs *outputs, bool remove)
{
	if (remove)
		remove_pair(outputs);
	close(outputs->heap_fd);
	close(outputs->pprof_fd);
	close(outputs->folder_fd);
}
