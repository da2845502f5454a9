/* SPDX-License-Identifier: MIT */
/* payload_file.c - see payload_file.h. */
#include "payload_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel_flags.h"
#include "proc_file.h"
#include "target_memfd.h"

int payload_file_close(struct remote *remote, int fd)
{
	if (!target_memfd_is_ours(remote->tracee.pid, remote->tracee.tid, fd))
		return 0; /* the program closed it */
	return remote_syscall_or_fail(remote, SYS_close, (uint64_t[6]){(uint64_t)fd}, NULL);
}

/* a child with fewer rights may inherit the file, too */
#define FOR_GOOD (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)

/*
 * Compares the file with the image. A process that was forked since the file was created has the
 * file, too, and could write to it until it was sealed.
 */
static int compare_file(const struct payload_image *payload, int file)
{
	uint8_t part[4096];
	ssize_t got;
	for (size_t at = 0; at < payload->file_size; at += (size_t)got) {
		got = pread(file, part, sizeof(part), (off_t)at);
		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		if (memcmp(part, payload->file + at, (size_t)got) != 0)
			return -EBADMSG;
	}
	return 0;
}

/*
 * Writes the image into descriptor fd of the target, through the injector's own descriptor on the
 * same file.
 */
static int fill_file(const struct loader_target *target, const struct remote *remote, int fd,
		     uint64_t *out_inode)
{
	const struct payload_image *payload = target->payload;
	struct stat info;
	ssize_t put;
	int own, err = target_memfd_open(remote->tracee.pid, remote->tracee.tid, fd,
					 LOADER_DLOPEN_MEMFD, &own);

	if (err)
		return err;
	put = pwrite(own, payload->file, payload->file_size, 0);
	if (put != (ssize_t)payload->file_size)
		err = put < 0 ? -errno : -EIO;
	else if (fcntl(own, F_ADD_SEALS, FOR_GOOD) || fstat(own, &info))
		err = -errno;
	else
		err = info.st_size == (off_t)payload->file_size ? compare_file(payload, own)
								: -EBADMSG;
	if (!err)
		*out_inode = info.st_ino;
	close(own);
	return err;
}

int payload_file_create(const struct loader_target *target, struct remote *remote, int *out_fd,
			uint64_t *out_inode)
{
	uint64_t fd;
	int err = memory_write(target->memory, remote->scratch, LOADER_DLOPEN_MEMFD,
			       sizeof(LOADER_DLOPEN_MEMFD));

	if (err)
		return err;
	err = remote_syscall_or_fail(remote, SYS_memfd_create,
				     (uint64_t[6]){remote->scratch, MFD_CLOEXEC | MFD_NOEXEC_SEAL},
				     &fd);
	if (err == -EINVAL) /* kernels before 6.3 do not know MFD_NOEXEC_SEAL */
		err = remote_syscall_or_fail(
			remote, SYS_memfd_create,
			(uint64_t[6]){remote->scratch, MFD_CLOEXEC | MFD_ALLOW_SEALING}, &fd);
	if (err)
		return err;
	err = fill_file(target, remote, (int)fd, out_inode);
	if (err)
		(void)!payload_file_close(remote, (int)fd);
	else
		*out_fd = (int)fd;
	return err;
}

int payload_file_close_leftovers(struct remote *remote)
{
	char link[64];
	struct dirent *entry;
	DIR *directory;
	int err = 0;

	directory = opendir(proc_path(remote->tracee.pid, remote->tracee.tid, "fd").text);
	if (!directory)
		return -errno;
	while (!err && (entry = readdir(directory))) {
		ssize_t length =
			readlinkat(dirfd(directory), entry->d_name, link, sizeof(link) - 1);

		link[length > 0 ? length : 0] = '\0';
		if (strncmp(link, "/memfd:" LOADER_DLOPEN_MEMFD " ",
			    sizeof("/memfd:" LOADER_DLOPEN_MEMFD)) == 0)
			err = payload_file_close(remote, atoi(entry->d_name));
	}
	closedir(directory);
	return err;
}
