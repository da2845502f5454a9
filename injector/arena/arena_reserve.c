/* SPDX-License-Identifier: MIT */
/* arena_reserve.c - see arena_reserve.h. */
#include "arena_reserve.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "kernel_flags.h"
#include "procfs.h"

#define PIECE_BYTES (64ull << 10)
#define PRIVATE_FLAGS ((uint64_t)(MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED))

static int unlock(struct remote *remote, remote_addr at, uint64_t size)
{
	return remote_syscall_or_fail(remote, SYS_munlock, (uint64_t[6]){at, size}, NULL);
}

/*
 * If the process has nothing locked, not even its newest mapping, it certainly does not lock what
 * it maps. Unlocking what is not locked costs only a system call.
 */
static bool may_be_locking(const struct remote *remote)
{
	struct proc_status status;
	return proc_status_read(remote->tracee.pid, remote->tracee.tid, &status) ||
	       status.locked_bytes;
}

/*
 * A call that failed may have taken effect all the same: unmaps whatever there is of ours, of
 * whatever size, wherever it lies.
 */
static void give_up(struct remote *remote)
{
	struct maps maps;
	if (maps_read(remote->tracee.pid, remote->tracee.tid, &maps))
		return;
	for (size_t i = 0; i < maps.count; i++) {
		const struct mapping *mapping = &maps.mapping[i];
		if (mapping->shared && !mapping->file_offset &&
		    !strcmp(mapping->path, "/memfd:" HI_MEMFD_NAME))
			(void)!remote_syscall_or_fail(
				remote, SYS_munmap,
				(uint64_t[6]){mapping->lo, mapping->hi - mapping->lo}, NULL);
	}
	maps_close(&maps);
}

int arena_reserve_file(struct remote *remote, int fd, remote_addr hint, uint64_t size,
		       remote_addr *out_base, bool *out_is_locking)
{
	uint64_t first, base;
	int err = remote_syscall_or_fail(remote, SYS_mmap,
					 (uint64_t[6]){hint, ARENA_FIRST_BYTES,
						       PROT_READ | PROT_WRITE,
						       MAP_SHARED | MAP_NORESERVE, (uint64_t)fd, 0},
					 &first);
	if (err)
		return err;
	const bool is_locking = may_be_locking(remote);
	if (is_locking)
		err = unlock(remote, first, ARENA_FIRST_BYTES);
	if (!err)
		err = remote_syscall_or_fail(
			remote, SYS_mremap,
			(uint64_t[6]){first, ARENA_FIRST_BYTES, size, MREMAP_MAYMOVE}, &base);
	if (err) {
		give_up(remote);
		return err;
	}
	*out_base = base;
	*out_is_locking = is_locking;
	return 0;
}

/* Maps with PROT_NONE, so that the kernel fills no page before all of it is unlocked. */
static int map_unlocked(struct remote *remote, remote_addr at, uint64_t size)
{
	const int err = remote_syscall_or_fail(
		remote, SYS_mmap,
		(uint64_t[6]){at, size, PROT_NONE, PRIVATE_FLAGS, (uint64_t)-1, 0}, NULL);
	return err ? err : unlock(remote, at, size);
}

/*
 * Doubles the area by a call that moves a mapping and leaves an empty one in its place. What is
 * moved is not locked, so its destination is not locked either. There is no hole at any moment, as
 * growing a mapping in place would need.
 */
static int double_until(struct remote *remote, remote_addr at, uint64_t done, uint64_t size)
{
	int err = 0;
	while (!err && done < size) {
		const uint64_t left = size - done, more = left < done ? left : done;
		err = remote_syscall_or_fail(
			remote, SYS_mremap,
			(uint64_t[6]){at, more, more,
				      MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, at + done},
			NULL);
		done += more;
	}
	return err == -EINVAL ? -EAGAIN : err; /* Linux before 5.7 has no such call */
}

int arena_reserve_private(struct remote *remote, remote_addr at, uint64_t size, bool is_locking)
{
	if (!is_locking)
		return remote_syscall_or_fail(remote, SYS_mmap,
					      (uint64_t[6]){at, size, PROT_READ | PROT_WRITE,
							    PRIVATE_FLAGS, (uint64_t)-1, 0},
					      NULL);
	int err = map_unlocked(remote, at, size);
	if (err == -EAGAIN) { /* the target may not lock so much even for a moment */
		const uint64_t piece = size < PIECE_BYTES ? size : PIECE_BYTES;
		err = map_unlocked(remote, at, piece);
		if (!err)
			err = double_until(remote, at, piece, size);
	}
	return err ? err
		   : remote_syscall_or_fail(remote, SYS_mprotect,
					    (uint64_t[6]){at, size, PROT_READ | PROT_WRITE}, NULL);
}
