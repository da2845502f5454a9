/* SPDX-License-Identifier: MIT */
/*
 * proc_file.c - see proc_file.h.
 *
 * Files of /proc have no size in advance and are generated while they are read. So this reads large
 * pieces into a buffer that doubles. The size limit is against a target that maps without end; no
 * real target reaches it (65,530 mappings with the longest path are below it).
 */
#include "proc_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_BYTES 16384u
#define MOST_BYTES (512u << 20)

struct proc_path proc_path(pid_t pid, pid_t tid, const char *name)
{
	const char *const slash = *name ? "/" : "";
	struct proc_path path;

	if (tid)
		snprintf(path.text, sizeof(path.text), "/proc/%d/task/%d%s%s", pid, tid, slash,
			 name);
	else
		snprintf(path.text, sizeof(path.text), "/proc/%d%s%s", pid, slash, name);
	return path;
}

struct proc_path proc_path_of_fd(int fd)
{
	struct proc_path path;

	snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
	return path;
}

int proc_open(pid_t pid, pid_t tid, const char *name, int flags, int *out_fd)
{
	const int fd = open(proc_path(pid, tid, name).text, flags | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	*out_fd = fd;
	return 0;
}

pid_t proc_next(DIR *proc)
{
	const struct dirent *entry;

	while ((entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]))
			return atoi(entry->d_name);
	return 0;
}

long proc_sys_number(const char *name)
{
	char path[96], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return strtol(text, NULL, 10);
}

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
	size_t size;
	int fd = -1, err = proc_open(pid, tid, name, O_RDONLY, &fd);

	if (err)
		return err;
	err = read_all(fd, out_text, &size);
	close(fd);
	if (!err && out_size)
		*out_size = size;
	return err;
}
