/* SPDX-License-Identifier: MIT */
/* arena_file.c - see arena_file.h. */
#include "arena_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fault.h"
#include "kernel_flags.h"
#include "target_memfd.h"

int arena_file_create(struct arena *arena, struct remote *remote)
{
	uint64_t fd;
	int err =
		memory_write(remote->memory, remote->scratch, HI_MEMFD_NAME, sizeof(HI_MEMFD_NAME));
	if (err)
		return err;
	err = remote_syscall_or_fail(
		remote, SYS_memfd_create,
		(uint64_t[6]){remote->scratch, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL},
		&fd);
	if (err == -EINVAL) /* kernels before 6.3 do not know MFD_NOEXEC_SEAL */
		err = remote_syscall_or_fail(
			remote, SYS_memfd_create,
			(uint64_t[6]){remote->scratch, MFD_CLOEXEC | MFD_ALLOW_SEALING}, &fd);
	if (err)
		return err;
	arena->target_fd = (int)fd;

	return target_memfd_open(remote->tracee.pid, remote->tracee.tid, arena->target_fd,
				 HI_MEMFD_NAME, &arena->memfd);
}

static int put(const struct arena *arena, const void *bytes, size_t size, uint64_t offset)
{
	const int err = fault_next("fill_memfd");
	if (err)
		return err;
	const ssize_t put = pwrite(arena->memfd, bytes, size, (off_t)offset);
	return put == (ssize_t)size ? 0 : put < 0 ? -errno : -EIO;
}

uint8_t *arena_file_kept(const struct arena *arena, uint64_t offset)
{
	const struct hi_control *control = arena->control;
	if (offset - control->near.offset < control->near.size)
		return arena->kept + (offset - control->near.offset);
	if (offset - control->image.offset < control->arena_size - control->image.offset)
		return arena->kept + control->near.size + (offset - control->image.offset);
	return NULL;
}

int arena_file_put(const struct arena *arena, const void *bytes, size_t size, uint64_t offset)
{
	memcpy(arena_file_kept(arena, offset), bytes, size);
	return put(arena, bytes, size, offset);
}

/*
 * Sets the size for good: no process may shrink the file under our mapping or the target's, nor
 * have done so before the seal.
 */
static int set_size(int memfd, off_t size)
{
	struct stat info;
	const int err = fault_next("seal_memfd");
	if (err)
		return err;
	if (ftruncate(memfd, size) ||
	    fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ||
	    fstat(memfd, &info))
		return -errno;
	return info.st_size == size ? 0 : -EBUSY;
}

int arena_file_fill(struct arena *arena, const struct hi_control *layout,
		    const struct payload_image *payload)
{
	arena->control = arena_control_new();
	arena->kept = calloc(1, layout->near.size + (layout->arena_size - layout->image.offset));
	if (!arena->control || !arena->kept)
		return -ENOMEM;
	memcpy(arena->control, layout, offsetof(struct hi_control, counters));
	int err = set_size(arena->memfd, (off_t)layout->arena_size);
	if (!err && layout->image.size)
		err = arena_file_put(arena, payload->file + payload->text_offset,
				     payload->text_size, layout->image.offset);
	const uint64_t restore = layout->gate.offset + (uint64_t)HI_GATE_RESTORE * HI_GATE_STRIDE;
	if (!err)
		err = arena_file_put(arena, payload->gate[GATE_RESTORE].code,
				     payload->gate[GATE_RESTORE].size, restore);
	if (err)
		return err;
	arena->shared_size = layout->tables.offset + layout->tables.size;
	void *shared =
		mmap(NULL, arena->shared_size, PROT_READ | PROT_WRITE, MAP_SHARED, arena->memfd, 0);
	if (shared == MAP_FAILED)
		return -errno;
	arena->shared = shared;
	/* a page boundary */
	arena->ring = (struct hi_ring *)(void *)((uint8_t *)shared + layout->ring.offset);
	arena->ring_count = layout->ring_mask + 1;
	arena->ring_capacity = arena_ring_capacity(layout);
	arena->stacks = (struct hi_stacks *)(void *)((uint8_t *)shared + layout->stacks.offset);
	arena->stacks_size = layout->stacks.size;
	arena->stacks->used = sizeof(struct hi_stacks);
	arena->tables = (uint8_t *)shared + layout->tables.offset;
	arena->tables_size = layout->tables.size;
	memcpy(arena->shared, arena->control, offsetof(struct hi_control, counters));
	arena->control->magic = arena->shared->magic = HI_WIRE_MAGIC;
	for (uint32_t i = 0; i < arena->ring_count; i++) {
		struct hi_ring *ring = hi_ring_at(arena->ring, arena->ring_capacity, i);
		ring->capacity = arena->ring_capacity;
	}
	return 0;
}
