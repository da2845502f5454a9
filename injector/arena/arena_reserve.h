/* SPDX-License-Identifier: MIT */
/*
 * arena_reserve.h - reserves address space in the target for the arena, without memory and without
 * locking any.
 *
 * In a program that called mlockall(MCL_FUTURE), the kernel fills each new mapping with memory,
 * locks it before mmap returns, and counts it against RLIMIT_MEMLOCK. For the whole arena that
 * would take tens of milliseconds, and megabytes that are hardly ever used. A mapping that has been
 * unlocked stays unlocked when it grows or is moved.
 *
 * Both functions are called with a borrowed thread. At each moment everything is either under our
 * name in /proc/PID/maps or over what was (recover.c).
 */
#ifndef HI_ARENA_RESERVE_H
#define HI_ARENA_RESERVE_H

#include <stdbool.h>

#include "hi_wire.h"
#include "remote.h"

/*
 * Bytes mapped first: the first pages of the control block, and the page of its heartbeat. They
 * hold all that matters while nothing else is mapped yet.
 */
#define ARENA_FIRST_BYTES ((uint64_t)HI_PRIVATE_BYTES + HI_PAGE_BYTES_MAX)

/*
 * Maps the first `size` bytes of the file, shared and writable, at or after `hint` if there is room
 * (0: anywhere). out_is_locking: the target may lock what it maps. -EAGAIN: it does, and may not
 * lock that much more. On failure nothing is mapped.
 */
must_check int arena_reserve_file(struct remote *remote, int fd, remote_addr hint, uint64_t size,
				  remote_addr *out_base, bool *out_is_locking);
/*
 * Maps private anonymous memory at `at`, over what is mapped there; is_locking as above. On failure
 * some of it may be mapped already.
 */
must_check int arena_reserve_private(struct remote *remote, remote_addr at, uint64_t size,
				     bool is_locking);

#endif
