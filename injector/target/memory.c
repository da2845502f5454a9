/* SPDX-License-Identifier: MIT */
/*
 * memory.c - the target's memory through one descriptor on /proc/PID/task/TID/mem.
 *
 * Meaning of the kernel's answers: 0 bytes = the address space has no users left (exit, exec); EIO
 * = no such page, or one that must not be written; EINVAL = an address in the upper half. Enter at
 * memory_open.
 */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"
#include "memory_copy.h"
#include "proc_file.h"

#define WORD_BYTES 8u
/* so much is read by process_vm_readv, which does not look up each page by itself */
#define MUCH_BYTES (64u << 10)
#define SLOW_BYTE_NS 2000000
#define PIECES_AT_ONCE 512u /* of at most IOV_MAX */

static int open_for(struct memory *memory, pid_t pid, pid_t tid, int flags)
{
	int fd, err = proc_open(pid, tid, "mem", flags, &fd);

	if (err)
		return err;
	*memory = (struct memory){.pid = pid, .fd = fd, .tid = tid};
	return 0;
}

int memory_open(struct memory *memory, pid_t pid, pid_t tid)
{
	return open_for(memory, pid, tid, O_RDWR);
}

int memory_open_to_read(struct memory *memory, pid_t pid, pid_t tid)
{
	return open_for(memory, pid, tid, O_RDONLY);
}

void memory_close(struct memory *memory)
{
	if (memory->fd >= 0)
		close(memory->fd);
	memory->fd = -1;
}

/* The error that a transfer of no bytes (count <= 0) indicates. */
static int transfer_error(ssize_t count)
{
	if (count == 0)
		return -ESRCH;
	return errno == EIO || errno == EINVAL ? -EFAULT : -errno;
}

static int read_process(const struct memory *memory, remote_addr from, void *into, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t count =
			pread(memory->fd, (char *)into + done, size - done, (off_t)(from + done));

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return transfer_error(count);
		done += (size_t)count;
	}
	return 0;
}

/* What was copied from the copy, the rest from the process. */
static int read_copy(const struct memory *memory, remote_addr from, void *into, size_t size)
{
	const struct copied_run *end = memory->copy->run + memory->copy->count;
	const struct copied_run *run = memory_copy_find(memory->copy, from);
	uint8_t *to = into;
	int err = 0;

	run = run ? run : end;
	while (size && !err) {
		while (run < end && run->lo < from + size && (!run->byte || run->hi <= from))
			run++;
		const bool is_before = run < end && run->lo > from;
		const bool is_copied = run < end && run->byte && run->lo <= from;
		const uint64_t left = is_copied   ? run->hi - from
				      : is_before ? run->lo - from
						  : size;
		const size_t part = left < size ? (size_t)left : size;

		if (is_copied)
			memcpy(to, run->byte + (from - run->lo), part);
		else
			err = read_process(memory, from, to, part);
		from += part;
		to += part;
		size -= part;
	}
	return err;
}

int memory_read(const struct memory *memory, remote_addr from, void *into, size_t size)
{
	return memory->copy ? read_copy(memory, from, into, size)
			    : read_process(memory, from, into, size);
}

int memory_read_much(const struct memory *memory, remote_addr from, void *into, size_t size)
{
	const struct iovec local = {into, size}, remote = {(void *)(uintptr_t)from, size};

	if (!memory->copy && size >= MUCH_BYTES &&
	    process_vm_readv(memory->tid, &local, 1, &remote, 1, 0) == (ssize_t)size &&
	    memory_is_alive(memory))
		return 0;
	return memory_read(memory, from, into, size);
}

/* Returns how many of the first pieces were read; the one after them may be what failed. */
static size_t read_first_pieces(const struct memory *memory, struct memory_piece *piece,
				size_t count)
{
	struct iovec local[PIECES_AT_ONCE], remote[PIECES_AT_ONCE];
	size_t read = 0;

	for (size_t i = 0; i < count; i++) {
		local[i] = (struct iovec){piece[i].into, piece[i].size};
		remote[i] = (struct iovec){(void *)(uintptr_t)piece[i].from, piece[i].size};
	}
	ssize_t got =
		memory->copy ? -1 : process_vm_readv(memory->tid, local, count, remote, count, 0);

	for (; read < count && got >= (ssize_t)piece[read].size; read++) {
		got -= (ssize_t)piece[read].size;
		piece[read].is_read = true;
	}
	return read;
}

int memory_read_pieces(const struct memory *memory, struct memory_piece *piece, size_t count)
{
	for (size_t done = 0; done < count;) {
		const size_t left = count - done;
		const size_t most = left < PIECES_AT_ONCE ? left : PIECES_AT_ONCE;
		const size_t read = read_first_pieces(memory, piece + done, most);

		done += read;
		if (read == most)
			continue;
		const int err =
			memory_read(memory, piece[done].from, piece[done].into, piece[done].size);
		if (err == -ESRCH)
			return err;
		piece[done++].is_read = !err;
	}
	return memory->copy || memory_is_alive(memory) ? 0 : -ESRCH;
}

static bool is_readable(const struct memory *memory, remote_addr from, size_t size)
{
	char piece[256];
	int err = 0;

	for (size_t done = 0; done < size && !err; done += sizeof(piece))
		err = memory_read(memory, from + done, piece,
				  size - done < sizeof(piece) ? size - done : sizeof(piece));
	return !err;
}

/*
 * The error of a refused write. If the bytes can be read, the page's protection refused it
 * (proc_mem.force_override, Linux 6.12), not a missing page.
 */
static int write_error(const struct memory *memory, remote_addr to, const void *from, size_t size,
		       ssize_t count)
{
	int err = transfer_error(count);

	if (err == -EFAULT && memory->force && is_readable(memory, to, size))
		return memory->force(memory, to, from, size);
	return err;
}

/*
 * process_vm_writev writes only what the target itself could write, like /proc/PID/mem on kernels
 * that were configured so.
 */
static ssize_t write_some(const struct memory *memory, remote_addr to, const void *from,
			  size_t size)
{
	const struct iovec local = {(void *)(uintptr_t)from, size},
			   remote = {(void *)(uintptr_t)to, size};
	ssize_t count;

	if (!fault_is_set("HEAPINJECT_FAULT_NO_FORCE"))
		return pwrite(memory->fd, from, size, (off_t)to);
	count = process_vm_writev(memory->tid, &local, 1, &remote, 1, 0);
	if (count < 0 && errno == EFAULT)
		errno = EIO;
	return count;
}

static int write_all(const struct memory *memory, remote_addr to, const void *from, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t count =
			write_some(memory, to + done, (const char *)from + done, size - done);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return write_error(memory, to + done, (const char *)from + done,
					   size - done, count);
		done += (size_t)count;
	}
	return 0;
}

/*
 * No write by the kernel into another process is atomic, not even of an aligned word. The copy may
 * be interrupted after any byte, and a running thread then sees a word of which some bytes are old
 * and some are new. That is rare; here it lasts for milliseconds, so that a test detects code that
 * reads such a word.
 */
static int write_slowly(const struct memory *memory, remote_addr to, const void *from)
{
	const uint8_t *byte = from;
	uint8_t before[WORD_BYTES];
	bool is_half_done = false;
	int err = memory_read(memory, to, before, sizeof(before));

	for (size_t i = 0; i < WORD_BYTES && !err; i++) {
		const bool differs = byte[i] != before[i];

		if (differs && is_half_done)
			nanosleep(&(struct timespec){.tv_nsec = SLOW_BYTE_NS}, NULL);
		is_half_done |= differs;
		err = write_all(memory, to + i, &byte[i], 1);
	}
	return err;
}

int memory_write(const struct memory *memory, remote_addr to, const void *from, size_t size)
{
	int err = fault_next("memory_write");

	if (err)
		return err;
	if (size == WORD_BYTES && fault_is_set("HEAPINJECT_FAULT_SLOW_WRITES"))
		return write_slowly(memory, to, from);
	return write_all(memory, to, from, size);
}

int memory_read_u64(const struct memory *memory, remote_addr from, uint64_t *out_value)
{
	uint64_t value;
	int err = memory_read(memory, from, &value, sizeof(value));

	if (!err)
		*out_value = value;
	return err;
}

int memory_write_u64(const struct memory *memory, remote_addr to, uint64_t value)
{
	return memory_write(memory, to, &value, sizeof(value));
}

int memory_is_alive(const struct memory *memory)
{
	char byte;

	/*
	 * Page zero is never mapped: a read gives EIO if the address space is alive, and 0 bytes if
	 * it is gone.
	 */
	return pread(memory->fd, &byte, 1, 0) != 0;
}

/*
 * Opens a descriptor of its own for the thread: through such a descriptor the injector can read
 * pages that the program itself may not read.
 */
static bool is_witness_there(const struct memory *memory, pid_t tid)
{
	uint8_t ours[WITNESS_BYTES], its[WITNESS_BYTES];
	struct memory its_memory;
	bool is_there = true;

	if (memory_read(memory, memory->witness, ours, sizeof(ours)) ||
	    memory_open(&its_memory, memory->pid, tid))
		return true;
	switch (memory_read(&its_memory, memory->witness, its, sizeof(its))) {
	case 0:
		is_there = memcmp(ours, its, sizeof(ours)) == 0;
		break;
	case -EFAULT:
		is_there = false;
		break;
	}
	memory_close(&its_memory);
	return is_there;
}

bool memory_is_of(const struct memory *memory, pid_t tid)
{
	uint8_t ours[WITNESS_BYTES], its[WITNESS_BYTES];
	const struct iovec local = {its, sizeof(its)},
			   remote = {(void *)(uintptr_t)memory->witness, sizeof(its)};

	if (!memory->witness)
		return true;
	if (process_vm_readv(tid, &local, 1, &remote, 1, 0) == sizeof(its) &&
	    !memory_read(memory, memory->witness, ours, sizeof(ours)) &&
	    memcmp(ours, its, sizeof(ours)) == 0)
		return true;
	return is_witness_there(memory, tid);
}
