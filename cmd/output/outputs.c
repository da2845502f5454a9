/* SPDX-License-Identifier: MIT */
/* outputs.c - see outputs.h. */
#include "outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directory.h"
#include "hi_path.h"
#include "identity.h"
#include "proc_file.h"

#define NUMBER_MAX 999999
/* names to try: sessions that were killed during a dump have left temporary files */
#define TEMPORARY_NAMES 16
#define HEAP "heap"
#define PPROF "pb.gz"

/*
 * The paths are for messages; files are opened by their last component in the directory that is
 * open as directory_fd.
 */

static int make_path(const struct outputs *outputs, unsigned number, const char *suffix,
		     char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s.%d.%04u.%s", outputs->prefix, (int)outputs->pid, number,
			suffix) >= PATH_MAX
		       ? -ENAMETOOLONG
		       : 0;
}

static int create_file(const struct outputs *outputs, const char *path)
{
	const int fd = openat(outputs->directory_fd, hi_base_name(path),
			      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return fd < 0 ? -errno : fd;
}

static int create(const struct outputs *outputs, unsigned number, const char *suffix,
		  char path[PATH_MAX])
{
	int err = make_path(outputs, number, suffix, path);
	return err ? err : create_file(outputs, path);
}

static int create_pair(struct outputs *outputs)
{
	for (unsigned number = 1; number <= NUMBER_MAX; number++) {
		outputs->number = number;
		outputs->heap_fd = create(outputs, number, HEAP, outputs->heap_path);
		if (outputs->heap_fd == -EEXIST)
			continue;
		if (outputs->heap_fd < 0)
			return outputs->heap_fd;
		outputs->pprof_fd = create(outputs, number, PPROF, outputs->pprof_path);
		if (outputs->pprof_fd >= 0)
			return 0;
		const int err = outputs->pprof_fd;
		unlinkat(outputs->directory_fd, hi_base_name(outputs->heap_path), 0);
		close(outputs->heap_fd);
		if (err != -EEXIST)
			return err;
	}
	return -EEXIST;
}

/*
 * Marks the final files as still to be written, as long as this process lives: report looks for the
 * lock at an empty file. A file system without locks has no mark.
 */
static void lock_pair(const struct outputs *outputs)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	(void)fcntl(outputs->heap_fd, F_SETLK, &lock);
	(void)fcntl(outputs->pprof_fd, F_SETLK, &lock);
}

int outputs_create(struct outputs *outputs, const char *prefix, pid_t pid)
{
	struct identity_window window;
	int err = identity_begin(identity_of_caller(), &window);

	if (err)
		return err;
	*outputs = (struct outputs){.prefix = prefix, .pid = pid};
	err = directory_open(prefix, &outputs->directory_fd);
	if (!err) {
		err = create_pair(outputs);
		if (err)
			close(outputs->directory_fd);
		else
			lock_pair(outputs);
	}
	identity_end(&window);
	return err;
}

static void remove_pair(const struct outputs *outputs)
{
	struct identity_window window;

	if (identity_begin(identity_of_caller(), &window))
		return;
	unlinkat(outputs->directory_fd, hi_base_name(outputs->heap_path), 0);
	unlinkat(outputs->directory_fd, hi_base_name(outputs->pprof_path), 0);
	identity_end(&window);
}

void outputs_remove_empty(const struct outputs *outputs, bool out_removed[2])
{
	const int fds[2] = {outputs->heap_fd, outputs->pprof_fd};
	const char *const paths[2] = {outputs->heap_path, outputs->pprof_path};
	struct identity_window window;
	const bool may = !identity_begin(identity_of_caller(), &window);

	for (int i = 0; i < 2; i++) {
		struct stat info;
		out_removed[i] = may && !fstat(fds[i], &info) && !info.st_size &&
				 !unlinkat(outputs->directory_fd, hi_base_name(paths[i]), 0);
	}
	if (may)
		identity_end(&window);
}

void outputs_close(struct outputs *outputs, bool remove)
{
	if (remove)
		remove_pair(outputs);
	close(outputs->heap_fd);
	close(outputs->pprof_fd);
	close(outputs->directory_fd);
	free(outputs->kept);
	outputs->kept = NULL;
}

/* ---- dumps ----------------------------------------------------------------------------------- */

static void unlink_file(const struct outputs *outputs, const char *path)
{
	unlinkat(outputs->directory_fd, hi_base_name(path), 0);
}

static int create_temporary(const struct outputs *outputs, const char *suffix, char path[PATH_MAX])
{
	char whole[32];
	int fd = -EEXIST;

	for (unsigned turn = 0; fd == -EEXIST && turn < TEMPORARY_NAMES; turn++) {
		snprintf(whole, sizeof(whole), turn ? "%s.%u.tmp" : "%s.tmp", suffix, turn);
		fd = create(outputs, outputs->number, whole, path);
	}
	return fd;
}

int outputs_dump_open(struct outputs *outputs, struct outputs_dump *out_dump)
{
	struct identity_window window;
	int err = identity_begin(identity_of_caller(), &window);

	if (err)
		return err;
	out_dump->heap_fd = create_temporary(outputs, HEAP, out_dump->heap_path);
	err = out_dump->heap_fd < 0 ? out_dump->heap_fd : 0;
	if (!err) {
		out_dump->pprof_fd = create_temporary(outputs, PPROF, out_dump->pprof_path);
		err = out_dump->pprof_fd < 0 ? out_dump->pprof_fd : 0;
		if (err) {
			unlink_file(outputs, out_dump->heap_path);
			close(out_dump->heap_fd);
		}
	}
	identity_end(&window);
	return err;
}

/*
 * Never replaces an existing file. Some file systems do not support RENAME_NOREPLACE (NFS), others
 * do not support hard links (FAT).
 */
static int rename_file(const struct outputs *outputs, const char *from, const char *to)
{
	const int directory = outputs->directory_fd;

	if (!renameat2(directory, hi_base_name(from), directory, hi_base_name(to),
		       RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (linkat(directory, hi_base_name(from), directory, hi_base_name(to), 0))
		return -errno;
	unlink_file(outputs, from);
	return 0;
}

/* Renames the .pb.gz first: a program that waits for the .heap then finds both files. */
static int rename_pair(const struct outputs *outputs, const char *heap, const char *pprof,
		       unsigned number)
{
	char new_heap[PATH_MAX], new_pprof[PATH_MAX];
	int err = make_path(outputs, number, HEAP, new_heap);

	if (!err)
		err = make_path(outputs, number, PPROF, new_pprof);
	if (!err)
		err = rename_file(outputs, pprof, new_pprof);
	if (err)
		return err;
	err = rename_file(outputs, heap, new_heap);
	if (err)
		(void)!rename_file(outputs, new_pprof, pprof);
	return err;
}

/*
 * Renames the session's final files to the next free number, and returns their old number for the
 * dump. If a user has moved or removed the final files (-ENOENT), they stay where they are, and
 * only the number advances.
 */
static int move_end_on(struct outputs *outputs, unsigned *out_number)
{
	const unsigned number = outputs->number;

	for (unsigned next = number + 1; next <= NUMBER_MAX; next++) {
		int err = rename_pair(outputs, outputs->heap_path, outputs->pprof_path, next);
		if (err == -EEXIST)
			continue;
		if (err && err != -ENOENT)
			return err;
		(void)!make_path(outputs, next, HEAP, outputs->heap_path);
		(void)!make_path(outputs, next, PPROF, outputs->pprof_path);
		outputs->number = next;
		*out_number = number;
		return 0;
	}
	return -EEXIST;
}

/*
 * Removes the files of an old dump, but only those that are still the files that this session
 * wrote.
 */
static void remove_kept(const struct outputs *outputs, const struct kept_dump *kept)
{
	static const char *const suffixes[] = {HEAP, PPROF};
	char path[PATH_MAX];
	struct stat status;

	for (int i = 0; i < 2; i++)
		if (!make_path(outputs, kept->number, suffixes[i], path) &&
		    !fstatat(outputs->directory_fd, hi_base_name(path), &status,
			     AT_SYMLINK_NOFOLLOW) &&
		    status.st_dev == kept->device && status.st_ino == kept->inode[i])
			unlink_file(outputs, path);
}

static void keep_newest(struct outputs *outputs, const struct outputs_dump *dump, unsigned number)
{
	struct stat heap, pprof;

	if (!outputs->keep || fstat(dump->heap_fd, &heap) || fstat(dump->pprof_fd, &pprof))
		return;
	if (!outputs->kept)
		outputs->kept = calloc(outputs->keep, sizeof(*outputs->kept));
	if (!outputs->kept)
		return; /* out of memory: keep a dump too many rather than one too few */
	if (outputs->kept_count == outputs->keep) {
		remove_kept(outputs, &outputs->kept[0]);
		memmove(outputs->kept, outputs->kept + 1,
			--outputs->kept_count * sizeof(*outputs->kept));
	}
	outputs->kept[outputs->kept_count++] = (struct kept_dump){
		.number = number, .device = heap.st_dev, .inode = {heap.st_ino, pprof.st_ino}};
}

static int publish(struct outputs *outputs, struct outputs_dump *dump)
{
	unsigned number;
	int err = move_end_on(outputs, &number);

	if (!err)
		err = rename_pair(outputs, dump->heap_path, dump->pprof_path, number);
	if (err) {
		unlink_file(outputs, dump->heap_path);
		unlink_file(outputs, dump->pprof_path);
		return err;
	}
	(void)!make_path(outputs, number, HEAP, dump->heap_path);
	(void)!make_path(outputs, number, PPROF, dump->pprof_path);
	keep_newest(outputs, dump, number);
	return 0;
}

/* Opens the file anew: who reads it gets no descriptor by which it can be written. */
static int open_to_read(int fd)
{
	struct identity_window window;

	if (identity_begin(identity_of_caller(), &window))
		return -1;
	const int reading = open(proc_path_of_fd(fd).text, O_RDONLY | O_CLOEXEC);
	identity_end(&window);
	return reading;
}

int outputs_read_final(const struct outputs *outputs)
{
	return open_to_read(outputs->pprof_fd);
}

static void close_dump(const struct outputs_dump *dump)
{
	close(dump->heap_fd);
	close(dump->pprof_fd);
}

int outputs_dump_publish(struct outputs *outputs, struct outputs_dump *dump)
{
	struct identity_window window;

	/* a file system that cannot (-EINVAL) is no reason to lose the dump */
	if (outputs->syncs)
		(void)!(fsync(dump->heap_fd) || fsync(dump->pprof_fd));
	int err = identity_begin(identity_of_caller(), &window);

	if (!err) {
		err = publish(outputs, dump);
		identity_end(&window);
	}
	dump->read_fd = !err && outputs->is_pushed ? open_to_read(dump->pprof_fd) : -1;
	close_dump(dump);
	return err;
}

void outputs_dump_discard(struct outputs *outputs, struct outputs_dump *dump)
{
	struct identity_window window;

	if (!identity_begin(identity_of_caller(), &window)) {
		unlink_file(outputs, dump->heap_path);
		unlink_file(outputs, dump->pprof_path);
		identity_end(&window);
	}
	close_dump(dump);
}

int outputs_create_beside(const struct outputs *outputs, const char *suffix,
			  char out_path[PATH_MAX])
{
	struct identity_window window;
	char whole[32];
	int fd = identity_begin(identity_of_caller(), &window);

	if (fd)
		return fd;
	fd = -EEXIST;
	for (unsigned turn = 0; fd == -EEXIST && turn < TEMPORARY_NAMES; turn++) {
		if (turn)
			snprintf(whole, sizeof(whole), "%u.%s", turn, suffix);
		else
			snprintf(whole, sizeof(whole), "%s", suffix);
		fd = create(outputs, outputs->number, whole, out_path);
	}
	identity_end(&window);
	return fd;
}

void outputs_absolute(const struct outputs *outputs, const char *path, char out_path[PATH_MAX])
{
	char directory[PATH_MAX];
	const ssize_t size = readlink(proc_path_of_fd(outputs->directory_fd).text, directory,
				      sizeof(directory) - 1);
	if (size <= 0 || (size_t)snprintf(out_path, PATH_MAX, "%.*s/%s", (int)size, directory,
					  hi_base_name(path)) >= PATH_MAX)
		snprintf(out_path, PATH_MAX, "%s", path);
}
