/* SPDX-License-Identifier: MIT */
/*
 * proc_file.c - one whole file of /proc/PID in memory.
 *
 * Files of /proc have no size in advance and are generated while they are read. So this reads large
 * pieces into a buffer that doubles. The size limit is against a target that maps without end; no
 * real target reaches it (65,530 mappings with the longest path are below it).
 */
#include "proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_BYTES 16384u
#define MOST_BYTES (512u << 20)

static int read_all(int fd, char **out_text, size_t *out_size)
{
	size_t size = 0, capacity = FIRST_BYTES;
	char *text = malloc(capacity);
	int err = text ? 0 : -ENOMEM;

	while (!err) {
		const ssize_t count = read(fd, text + size, capacity - size - 1);

		if (count == 0)
			break;
		if (count < 0 && errno != EINTR)
			err = -errno;
		if (count > 0)
			size += (size_t)count;
		if (!err && capacity - size == 1) {
			char *grown = capacity < MOST_BYTES ? realloc(text, capacity * 2) : NULL;

			if (grown)
				text = grown, capacity *= 2;
			else
				err = -ENOMEM;
		}
	}
	if (err) {
		free(text);
		return err;
	}
	text[size] = 0;
	*out_text = text;
	*out_size = size;
	return 0;
}

int proc_file_read(pid_t pid, pid_t tid, const char *name, char **out_text, size_t *out_size)
{
	char path[96];
	size_t size;
	int fd, err;

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	else
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	err = read_all(fd, out_text, &size);
	close(fd);
	if (!err && out_size)
		*out_size = size;
	return err;
}
