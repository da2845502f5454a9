/* SPDX-License-Identifier: MIT */
/*
 * target_memfd.c - see target_memfd.h.
 *
 * The link is followed once, to a descriptor that can do nothing (O_PATH: even opening a device may
 * have effects). That descriptor is checked and opened anew. Names alone prove nothing, as a
 * process with its own mount namespace can bind any file to any name. Seals do: other files have
 * none or, on tmpfs, none that can be added.
 */
#include "target_memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault.h"
#include "hi_wire.h"
#include "probes_name.h"
#include "proc_file.h"

#define PATH_BYTES 64

static bool has_name(const char *path, const char *name)
{
	char wanted[PATH_BYTES], link[PATH_BYTES];
	const int size = snprintf(wanted, sizeof(wanted), "/memfd:%s (deleted)", name);
	return readlink(path, link, sizeof(link)) == size && !memcmp(link, wanted, (size_t)size);
}

static bool is_new(int fd)
{
	struct stat info;
	return !fstat(fd, &info) && S_ISREG(info.st_mode) && !info.st_nlink && !info.st_size;
}

static bool can_be_sealed(int fd)
{
	const int seals = fcntl(fd, F_GET_SEALS);
	return seals >= 0 && !(seals & F_SEAL_SEAL);
}

/* path: a descriptor of our own in /proc/self/fd */
static int open_again(const char *path, int *out_fd)
{
	const int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!can_be_sealed(fd)) {
		close(fd);
		return -ESTALE;
	}
	*out_fd = fd;
	return 0;
}

static struct proc_path fd_path(pid_t pid, pid_t tid, int number)
{
	char name[32];
	snprintf(name, sizeof(name), "fd/%d", number);
	return proc_path(pid, tid, name);
}

int target_memfd_open(pid_t pid, pid_t tid, int number, const char *name, int *out_fd)
{
	int err = fault_next("open_memfd");
	if (err)
		return err;
	/* Per thread: a leader that has ended shows no descriptors. */
	const int found = open(fd_path(pid, tid, number).text, O_PATH | O_CLOEXEC);
	if (found < 0)
		return -errno;
	const struct proc_path own = proc_path_of_fd(found);
	err = has_name(own.text, name) && is_new(found) ? open_again(own.text, out_fd) : -ESTALE;
	close(found);
	return err;
}

bool target_memfd_is_ours(pid_t pid, pid_t tid, int number)
{
	static const char begin[] = "/memfd:" HI_MEMFD_NAME;
	char link[PATH_MAX];
	const ssize_t size = readlink(fd_path(pid, tid, number).text, link, sizeof(link) - 1);
	link[size > 0 ? size : 0] = 0;
	return (size >= (ssize_t)sizeof(begin) && !memcmp(link, begin, sizeof(begin) - 1)) ||
	       is_probes_name(link);
}
