/* SPDX-License-Identifier: MIT */
/*
 * directory.c - see directory.h.
 *
 * The path is walked one component at a time. Each component is opened from the directory before it
 * and checked through its descriptor, so nobody can replace it between check and use. The text of a
 * symbolic link is put in front of the rest of the path.
 */
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hi_path.h"

#define LINKS_MAX 40 /* as in the kernel */

struct walk {
	int directory;
	char rest[PATH_MAX]; /* the part of the path that is still to be walked */
	unsigned links;
};

static bool is_trusted_link(int directory, const struct stat *link)
{
	struct stat around;

	if (fstat(directory, &around))
		return false;
	return !(around.st_mode & S_IWOTH) || link->st_uid == around.st_uid ||
	       link->st_uid == (uid_t)setfsuid((uid_t)-1);
}

static int walk_to(struct walk *walk, int fd)
{
	if (fd < 0)
		return -errno;
	if (walk->directory >= 0)
		close(walk->directory);
	walk->directory = fd;
	return 0;
}

/* Continues from "/" if the rest of the path is absolute. */
static int walk_slashes(struct walk *walk)
{
	const size_t slashes = strspn(walk->rest, "/");

	if (!slashes)
		return 0;
	memmove(walk->rest, walk->rest + slashes, strlen(walk->rest + slashes) + 1);
	return walk_to(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

static int walk_link(struct walk *walk, int link)
{
	char text[PATH_MAX], rest[PATH_MAX];
	const ssize_t size = readlinkat(link, "", text, sizeof(text) - 1);

	if (size <= 0)
		return size ? -errno : -ENOENT;
	text[size] = 0;
	if (++walk->links > LINKS_MAX)
		return -ELOOP;
	if (snprintf(rest, sizeof(rest), "%s/%s", text, walk->rest) >= (int)sizeof(rest))
		return -ENAMETOOLONG;
	memcpy(walk->rest, rest, sizeof(rest));
	return walk_slashes(walk);
}

/* Removes the first component from the rest of the path, and enters it. */
static int walk_on(struct walk *walk)
{
	char name[NAME_MAX + 1];
	struct stat status;
	const size_t size = strcspn(walk->rest, "/"), slashes = strspn(walk->rest + size, "/");

	if (size > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, walk->rest, size);
	name[size] = 0;
	memmove(walk->rest, walk->rest + size + slashes, strlen(walk->rest + size + slashes) + 1);
	const int next = openat(walk->directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int err = next < 0 || fstat(next, &status) ? -errno : 0;
	if (!err && S_ISDIR(status.st_mode))
		return walk_to(walk, next);
	if (!err)
		err = !S_ISLNK(status.st_mode)                    ? -ENOTDIR
		      : is_trusted_link(walk->directory, &status) ? walk_link(walk, next)
								  : -ELOOP;
	if (next >= 0)
		close(next);
	return err;
}

int directory_open(const char *path, int *out_fd)
{
	const size_t size = (size_t)(hi_base_name(path) - path);
	struct walk walk = {.directory = -1};

	if (size >= sizeof(walk.rest))
		return -ENAMETOOLONG;
	memcpy(walk.rest, path, size);
	int err = *path == '/' ? walk_slashes(&walk)
			       : walk_to(&walk, open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
	while (!err && walk.rest[0])
		err = walk_on(&walk);
	if (!err)
		*out_fd = walk.directory;
	else if (walk.directory >= 0)
		close(walk.directory);
	return err;
}
