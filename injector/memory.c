/* SPDX-License-Identifier: MIT */
/*
 * memory.c - the target's memory through one descriptor on /proc/PID/task/TID/mem.
 *
 * The kernel's answers, and what they mean here: 0 bytes = the address space has no users left (exit, exec), EIO = no such page, EINVAL = an
 * address in the upper half. Enter at memory_open.
 */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"

#define PAGE_BYTES 4096u

int memory_open(struct memory *memory, pid_t pid, pid_t tid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/mem", pid, tid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	*memory = (struct memory){.pid = pid, .fd = fd, .tid = tid};
	return 0;
}

void memory_close(struct memory *memory)
{
	if (memory->fd >= 0)
		close(memory->fd);
	memory->fd = -1;
}

/* What a transfer that moved nothing (count <= 0) says about the target. */
static int transfer_error(ssize_t count)
{
	if (count == 0)
		return -ESRCH;
	return errno == EIO || errno == EINVAL ? -EFAULT : -errno;
}

int memory_read(const struct memory *memory, remote_addr from, void *into, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t count = pread(memory->fd, (char *)into + done, size - done, (off_t)(from + done));

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return transfer_error(count);
		done += (size_t)count;
	}
	return 0;
}

int memory_write(const struct memory *memory, remote_addr to, const void *from, size_t size)
{
	size_t done = 0;
	int error = fault_next("memory_write");

	if (error)
		return error;
	while (done < size) {
		ssize_t count = pwrite(memory->fd, (const char *)from + done, size - done, (off_t)(to + done));

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return transfer_error(count);
		done += (size_t)count;
	}
	return 0;
}

int memory_read_u64(const struct memory *memory, remote_addr from, uint64_t *out_value)
{
	uint64_t value;
	int error = memory_read(memory, from, &value, sizeof(value));

	if (!error)
		*out_value = value;
	return error;
}

int memory_write_u64(const struct memory *memory, remote_addr to, uint64_t value)
{
	return memory_write(memory, to, &value, sizeof(value));
}

int memory_read_string(const struct memory *memory, remote_addr from, char *into, size_t size)
{
	size_t done = 0;

	if (size == 0)
		return -ENAMETOOLONG;
	while (done < size) {
		/* Page by page: the string may end just before an unmapped one. */
		size_t chunk = PAGE_BYTES - (from + done) % PAGE_BYTES;
		int error;

		if (chunk > size - done)
			chunk = size - done;
		error = memory_read(memory, from + done, into + done, chunk);
		if (error) {
			into[done] = 0;
			return error;
		}
		if (memchr(into + done, 0, chunk))
			return 0;
		done += chunk;
	}
	into[size - 1] = 0;
	return -ENAMETOOLONG;
}

int memory_is_alive(const struct memory *memory)
{
	char byte;

	/* Page zero is never mapped: EIO from a living address space, 0 from none. */
	return pread(memory->fd, &byte, 1, 0) != 0;
}
