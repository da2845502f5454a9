/* SPDX-License-Identifier: MIT */
/* control_place.c - see control_place.h. */
#include "control_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directory.h"
#include "hi_path.h"
#include "namespaces.h"
#include "proc_file.h"

/* ---- whose ----------------------------------------------------------------------------------- */

struct control_place control_place_own(void)
{
	return (struct control_place){.owner = {.uid = geteuid(), .gid = getegid()},
				      .uid = geteuid(),
				      .runtime = getenv("XDG_RUNTIME_DIR"),
				      .roots = ROOTS_CLOSED};
}

/* XDG_RUNTIME_DIR in the environment with which the session was started; NULL: not set. */
static const char *runtime_in(const char *environment, size_t size)
{
	static const char name[] = "XDG_RUNTIME_DIR=";

	for (size_t at = 0; at < size; at += strlen(environment + at) + 1)
		if (!strncmp(environment + at, name, sizeof(name) - 1))
			return environment + at + sizeof(name) - 1;
	return NULL;
}

int control_place_of(pid_t session, struct control_place *out_place)
{
	struct control_place place = {.session = session, .roots = ROOTS_CLOSED};
	struct proc_status status;
	size_t size;
	int err = proc_status_read(session, session, &status);

	if (err)
		return err;
	place.owner = (struct identity){.uid = status.uid_effective, .gid = status.gid_effective};
	if (geteuid() != 0 && geteuid() != place.owner.uid)
		return -EPERM;
	err = proc_file_read(session, 0, "environ", &place.environment, &size);
	if (err)
		return err;
	place.runtime = runtime_in(place.environment, size);
	place.uid = place.owner.uid;
	if (namespaces_differ(session, "user"))
		place.uid = namespaces_uid(session, place.owner.uid);
	place.is_elsewhere = namespaces_differ(session, "mnt");
	if (place.is_elsewhere)
		roots_open(&place.roots, session, session, &status);
	*out_place = place;
	return 0;
}

void control_place_close(struct control_place *place)
{
	free(place->environment);
	place->environment = NULL;
	roots_close(&place->roots);
}

/* ---- where ----------------------------------------------------------------------------------- */

/*
 * Whether the directory belongs to this user. A runtime directory of another user, as after sudo,
 * must not be used.
 */
static bool is_owned(const struct control_place *place, const char *directory)
{
	struct stat status;

	if (!place->is_elsewhere)
		return !lstat(directory, &status) && S_ISDIR(status.st_mode) &&
		       status.st_uid == place->owner.uid;
	const int fd = roots_target_directory(&place->roots, directory);
	const bool is_owned = fd >= 0 && !fstat(fd, &status) && status.st_uid == place->owner.uid;
	if (fd >= 0)
		close(fd);
	return is_owned;
}

static int directory_path(const struct control_place *place, char *path, size_t size)
{
	int length;

	if (place->runtime && *place->runtime == '/' && is_owned(place, place->runtime))
		length = snprintf(path, size, "%s/heapinject", place->runtime);
	else if (place->uid == 0)
		length = snprintf(path, size, "/run/heapinject");
	else
		length = snprintf(path, size, "/tmp/heapinject-%u", (unsigned)place->uid);
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

/* The directory at that path of this mount namespace, or negative errno. */
static int open_here(const char *path, bool creates)
{
	const char *name = hi_base_name(path);
	int parent, err = directory_open(path, &parent);

	if (err)
		return err;
	if (creates && mkdirat(parent, name, 0700) && errno != EEXIST)
		err = -errno;
	const int directory =
		err ? -1 : openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (!err && directory < 0)
		err = -errno;
	close(parent);
	return err ? err : directory;
}

int control_place_open(const struct control_place *place, bool creates, int *out_directory)
{
	char path[PATH_MAX];
	struct stat status;
	const int err = directory_path(place, path, sizeof(path));

	if (err)
		return err;
	const int directory = place->is_elsewhere ? roots_target_directory(&place->roots, path)
						  : open_here(path, creates);
	if (directory < 0)
		return directory;
	if (fstat(directory, &status) || status.st_uid != place->owner.uid ||
	    status.st_mode & 022) {
		close(directory);
		return -EPERM;
	}
	*out_directory = directory;
	return 0;
}

void control_place_remove(void)
{
	const struct control_place own = control_place_own();
	char path[PATH_MAX];

	if (!directory_path(&own, path, sizeof(path)))
		(void)rmdir(path);
}
