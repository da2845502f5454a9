/* SPDX-License-Identifier: MIT */
/* roots.c - see roots.h. Enter at roots_file. */
#include "roots.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc_file.h"

#define FILE_BYTES_MAX (16ull << 30)

void roots_open(struct roots *roots, pid_t pid, pid_t tid, const struct proc_status *status)
{
	*roots = (struct roots){
		.reader = identity_for_data_of((struct identity){.uid = status->uid_effective,
								 .gid = status->gid_effective}),
		.own = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC),
		.target = open(proc_path(pid, tid, "root").text, O_PATH | O_DIRECTORY | O_CLOEXEC),
	};
}

void roots_close(struct roots *roots)
{
	if (roots->own >= 0)
		close(roots->own);
	if (roots->target >= 0)
		close(roots->target);
	*roots = ROOTS_CLOSED;
}

static int open_in_root(int root, const char *path, uint64_t flags)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC | flags,
				     .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	const long fd = syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

/* The found file is examined before it is opened: opening a device may have effects. */
static int open_found(int found, struct stat *out_status)
{
	int fd;

	if (fstat(found, out_status))
		return -errno;
	if (!S_ISREG(out_status->st_mode) || out_status->st_size < 0 ||
	    (uint64_t)out_status->st_size > FILE_BYTES_MAX)
		return -EACCES;
	fd = open(proc_path_of_fd(found).text, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static int open_path(const struct roots *roots, bool is_in_target, const char *path, uint64_t flags,
		     struct stat *out_status)
{
	const int root = is_in_target ? roots->target : roots->own;
	/*
	 * Kernels before 5.6 cannot confine a path to a root. The injector's own root needs no
	 * confinement; the target's root is then not searched.
	 */
	int found = open_in_root(root, path, flags), fd;

	if (found == -ENOSYS && root == roots->own)
		found = open(path, O_PATH | O_CLOEXEC | (int)flags);
	if (found < 0)
		return -ENOENT;
	fd = open_found(found, out_status);
	close(found);
	return fd;
}

int roots_file(const struct roots *roots, bool is_in_target, const char *path, uint64_t flags,
	       struct stat *out_status)
{
	struct identity_window window;
	int fd = identity_begin(roots->reader, &window);

	if (fd)
		return fd;
	fd = open_path(roots, is_in_target, path, flags, out_status);
	identity_end(&window);
	return fd;
}

int roots_target_directory(const struct roots *roots, const char *path)
{
	return roots->target < 0 ? -ENOENT : open_in_root(roots->target, path, O_DIRECTORY);
}
