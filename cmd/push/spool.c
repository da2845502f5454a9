/* SPDX-License-Identifier: MIT */
/* spool.c - see spool.h. */
#include "spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directory.h"
#include "hi_path.h"

#define SUFFIX ".push"
#define TEMPORARY ".part"
#define ENTRIES_MAX 10000u

/* ---- the directory --------------------------------------------------------------------------- */

static int open_directory(const char *path, int *out_fd)
{
	const char *name = hi_base_name(path);
	int parent, err = directory_open(path, &parent);

	if (err)
		return err;
	if (mkdirat(parent, name, 0700) && errno != EEXIST)
		err = -errno;
	const int fd =
		err ? -1 : openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (!err && fd < 0)
		err = -errno;
	close(parent);
	*out_fd = fd;
	return err;
}

int spool_open(const char *path, struct identity user, int *out_fd, struct identity *out_owner)
{
	const struct identity caller = identity_of_caller();
	struct identity_window window;
	struct stat status;
	int fd = -1, err = identity_begin(caller, &window);

	if (err)
		return err;
	err = open_directory(path, &fd);
	identity_end(&window);
	if (err)
		return err;
	if (fstat(fd, &status) || status.st_mode & 0022 ||
	    (status.st_uid != caller.uid && status.st_uid != user.uid))
		err = -EPERM;
	/* without CAP_CHOWN it stays as it is */
	if (!err && status.st_uid != user.uid && !fchown(fd, user.uid, user.gid) &&
	    fstat(fd, &status))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	*out_fd = fd;
	*out_owner = (struct identity){.uid = status.st_uid, .gid = status.st_gid};
	return 0;
}

static bool ends_with(const char *name, const char *suffix)
{
	const size_t length = strlen(name), size = strlen(suffix);

	return length > size && length < SPOOL_NAME_MAX && !strcmp(name + length - size, suffix);
}

/* Opens the directory anew, as its place would be shared. NULL = it cannot be read. */
static DIR *begin_reading(const struct spool *spool)
{
	const int fd = openat(spool->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !directory)
		close(fd);
	return directory;
}

/* What to look for: the least of the names that begin so and are above `after`. */
struct search {
	const char *prefix, *after;
	char least[SPOOL_NAME_MAX];
	unsigned count; /* of all that begin so */
	uint64_t bytes; /* of these, if they are asked for */
	bool wants_bytes;
};

/* Entries of different destinations are compared by their times. */
static const char *key(const char *name, const struct search *search)
{
	const char *dot = *search->prefix ? NULL : strchr(name, '.');

	return dot ? dot : name;
}

static void look(const struct spool *spool, struct search *search)
{
	DIR *directory = begin_reading(spool);
	struct stat status;

	search->least[0] = '\0';
	for (struct dirent *entry; directory && (entry = readdir(directory)) != NULL;) {
		const char *name = entry->d_name;

		if (!ends_with(name, SUFFIX) ||
		    strncmp(name, search->prefix, strlen(search->prefix)) != 0)
			continue;
		search->count++;
		if (search->wants_bytes && !fstatat(spool->fd, name, &status, AT_SYMLINK_NOFOLLOW))
			search->bytes += (uint64_t)status.st_size;
		if (strcmp(key(name, search), search->after) > 0 &&
		    (!search->least[0] ||
		     strcmp(key(name, search), key(search->least, search)) < 0))
			memcpy(search->least, name, strlen(name) + 1);
	}
	if (directory)
		closedir(directory);
}

void spool_sweep(const struct spool *spool)
{
	DIR *directory = begin_reading(spool);

	for (struct dirent *entry; directory && (entry = readdir(directory)) != NULL;) {
		if (!ends_with(entry->d_name, TEMPORARY))
			continue;
		const int fd = openat(spool->fd, entry->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		/* who writes it holds the lock */
		if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
			unlinkat(spool->fd, entry->d_name, 0);
		if (fd >= 0)
			close(fd);
	}
	if (directory)
		closedir(directory);
}

unsigned spool_count(const struct spool *spool)
{
	char prefix[20];
	struct search search = {.prefix = prefix, .after = ""};

	snprintf(prefix, sizeof(prefix), "%016" PRIx64 ".", spool->destination);
	look(spool, &search);
	return search.count;
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Opens and locks it. -ENOENT: it is gone, -EWOULDBLOCK: another process has it. */
static int hold(const struct spool *spool, const char *name, struct spool_entry *out_entry)
{
	struct stat status;
	const int fd = openat(spool->fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;

	if (!err && flock(fd, LOCK_EX | LOCK_NB))
		err = -errno;
	/* it may have been removed between the two */
	if (!err && (fstat(fd, &status) || !status.st_nlink || !S_ISREG(status.st_mode)))
		err = -ENOENT;
	if (err) {
		if (fd >= 0)
			close(fd);
		return err;
	}
	*out_entry = (struct spool_entry){.fd = fd, .size = (uint64_t)status.st_size};
	memcpy(out_entry->name, name, strlen(name) + 1);
	return 0;
}

void spool_put_back(struct spool_entry *entry)
{
	close(entry->fd);
	entry->fd = -1;
}

void spool_remove(const struct spool *spool, struct spool_entry *entry)
{
	unlinkat(spool->fd, entry->name, 0);
	spool_put_back(entry);
}

static int take_least(const struct spool *spool, const char *prefix, struct spool_entry *out_entry)
{
	char after[SPOOL_NAME_MAX] = "";

	for (;;) {
		struct search search = {.prefix = prefix, .after = after};

		look(spool, &search);
		if (!search.least[0])
			return -ENOENT;
		if (!hold(spool, search.least, out_entry))
			return 0;
		memcpy(after, key(search.least, &search), strlen(key(search.least, &search)) + 1);
	}
}

int spool_take(const struct spool *spool, struct spool_entry *out_entry)
{
	char prefix[20];

	snprintf(prefix, sizeof(prefix), "%016" PRIx64 ".", spool->destination);
	return take_least(spool, prefix, out_entry);
}

/* Removes the oldest, wherever they go, until there is room. */
static unsigned make_room(const struct spool *spool, uint64_t size)
{
	unsigned removed = 0;

	for (;;) {
		struct search all = {.prefix = "", .after = "", .wants_bytes = true};
		struct spool_entry oldest;

		look(spool, &all);
		if (all.bytes + size <= spool->bytes_max && all.count < ENTRIES_MAX)
			return removed;
		if (take_least(spool, "", &oldest))
			return removed;
		spool_remove(spool, &oldest);
		removed++;
	}
}

static int write_all(int fd, const uint8_t *bytes, size_t size)
{
	while (size) {
		const ssize_t written = write(fd, bytes, size);

		if (written < 0 && errno != EINTR)
			return -errno;
		bytes += written > 0 ? written : 0;
		size -= written > 0 ? (size_t)written : 0;
	}
	return 0;
}

int spool_add(const struct spool *spool, uint64_t unix_ns, const char *id, struct spool_bytes bytes,
	      unsigned *out_removed)
{
	char name[SPOOL_NAME_MAX], temporary[SPOOL_NAME_MAX];

	*out_removed = 0;
	if (bytes.size > spool->bytes_max)
		return -EFBIG;
	snprintf(name, sizeof(name), "%016" PRIx64 ".%020" PRIu64 ".%.*s" SUFFIX,
		 spool->destination, unix_ns, (int)SPOOL_ID_MAX - 1, id);
	snprintf(temporary, sizeof(temporary), "%.*s" TEMPORARY, (int)SPOOL_ID_MAX - 1, id);
	*out_removed = make_room(spool, bytes.size);
	const int fd = openat(spool->fd, temporary,
			      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	(void)flock(fd, LOCK_EX | LOCK_NB);
	int err = write_all(fd, bytes.bytes, bytes.size);
	/* a file system that cannot is no reason to lose it */
	if (!err)
		(void)!fsync(fd);
	if (!err && renameat(spool->fd, temporary, spool->fd, name))
		err = -errno;
	if (err)
		unlinkat(spool->fd, temporary, 0);
	close(fd);
	return err;
}
