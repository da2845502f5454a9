/* SPDX-License-Identifier: MIT */
/* elf_unpack.c - see elf_unpack.h. Enter at elf_unpack. */
#include "elf_unpack.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hi_debug_files.h"
#include "hi_wire.h"

#define PACKED_BYTES_MAX (16u << 20)
#define SECONDS_MAX 2u
#define DESCRIPTORS_MAX 65536
#define PAUSE_NS 500000
#define ALIGNMENT 64u
#define HEAP_BYTES (HI_MINI_DEBUG_DECODER_MAX + (1u << 20))

struct job {
	uint8_t *packed, *heap; /* private memory */
	size_t packed_size, heap_used;
	uint8_t *unpacked; /* shared memory */
	size_t room;
	uint64_t *unpacked_size; /* shared; after the unpacked bytes */
};

/* ---- the child ------------------------------------------------------------------------------- */

/* The decoder's memory is there before it starts: it can get no more. */
static void *take(void *opaque, size_t count, size_t size)
{
	struct job *job = opaque;
	void *block = job->heap + job->heap_used;
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > HEAP_BYTES ||
	    bytes + ALIGNMENT > HEAP_BYTES - job->heap_used)
		return NULL;
	job->heap_used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return block;
}

static void give_back(void *opaque, void *block)
{
	(void)opaque;
	(void)block;
}

static void close_all(void)
{
	if (syscall(SYS_close_range, 0u, ~0u, 0u) == 0)
		return;
	for (int fd = 0; fd < DESCRIPTORS_MAX; fd++)
		(void)close(fd);
}

/* Ends the process by the only call for that which strict seccomp allows. */
static void __attribute__((noreturn)) run(struct job *job)
{
	const struct rlimit seconds = {SECONDS_MAX, SECONDS_MAX};
	const lzma_allocator allocator = {take, give_back, job};
	size_t size = job->room;

	close_all();
	if (!setrlimit(RLIMIT_CPU, &seconds) && !prctl(PR_SET_DUMPABLE, 0) &&
	    !prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) &&
	    !hi_mini_debug_unpack(job->packed, job->packed_size, &allocator, job->unpacked, &size))
		*job->unpacked_size = size;
	for (;;)
		syscall(SYS_exit, 0);
}

/* ---- the injector ---------------------------------------------------------------------------- */

static void *map(size_t size, int fd)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

static bool read_all(int fd, uint64_t offset, uint8_t *into, size_t size)
{
	size_t done = 0;

	while (done < size) {
		const ssize_t got = pread(fd, into + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

/* Waits for the child, and ends it if it takes too long. */
static void wait_for(pid_t child, unsigned *ms)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	struct timespec begin, now;
	long passed = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	while (waitpid(child, NULL, WNOHANG) == 0) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		passed = (now.tv_sec - begin.tv_sec) * 1000 +
			 (now.tv_nsec - begin.tv_nsec) / 1000000;
		if (passed < (long)*ms) {
			nanosleep(&pause, NULL);
			continue;
		}
		(void)kill(child, SIGKILL);
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
		break;
	}
	*ms = passed < (long)*ms ? *ms - (unsigned)passed : 0;
}

static int unpack(struct job *job, int fd, struct elf_unpack_room *room)
{
	pid_t child;
	uint64_t size;

	child = fork();
	if (!child)
		run(job);
	if (child < 0)
		return -ENOENT;
	wait_for(child, &room->ms);
	size = *(volatile uint64_t *)job->unpacked_size;
	if (!size || size > job->room || ftruncate(fd, (off_t)size))
		return -ENOENT;
	room->bytes -= size;
	return 0;
}

int elf_unpack(int fd, uint64_t offset, uint64_t size, struct elf_unpack_room *room, int *out_fd)
{
	struct job job = {.packed_size = size, .room = HI_MINI_DEBUG_SIZE_MAX};
	int err = -ENOENT, unpacked;
	uint8_t *shared;

	if (!size || size > PACKED_BYTES_MAX || offset > INT64_MAX - size || !room->ms)
		return -ENOENT;
	if (job.room > room->bytes)
		job.room = room->bytes / HI_PAGE_BYTES * HI_PAGE_BYTES;
	unpacked = job.room ? memfd_create("heapinject-symbols", MFD_CLOEXEC) : -1;
	if (unpacked < 0)
		return -ENOENT;
	shared = ftruncate(unpacked, (off_t)(job.room + HI_PAGE_BYTES))
			 ? NULL
			 : map(job.room + HI_PAGE_BYTES, unpacked);
	job.packed = map(size, -1);
	job.heap = map(HEAP_BYTES, -1);
	job.unpacked = shared;
	job.unpacked_size = shared ? (uint64_t *)(void *)(shared + job.room) : NULL;
	if (shared && job.packed && job.heap && read_all(fd, offset, job.packed, size))
		err = unpack(&job, unpacked, room);
	if (shared)
		munmap(shared, job.room + HI_PAGE_BYTES);
	if (job.packed)
		munmap(job.packed, size);
	if (job.heap)
		munmap(job.heap, HEAP_BYTES);
	if (err)
		close(unpacked);
	else
		*out_fd = unpacked;
	return err;
}
