/* SPDX-License-Identifier: MIT */
/*
 * arena_reserve.h - address space in the target for the arena, of which nothing is in memory and nothing is locked.
 *
 * A program that called mlockall(MCL_FUTURE) has each of its new mappings filled with memory and locked before mmap returns, and counted against
 * RLIMIT_MEMLOCK: of the whole arena that would be tens of milliseconds, and megabytes that are hardly ever used. A mapping that has been unlocked stays so
 * when it grows or is moved.
 *
 * Both are called with a borrowed thread. At each moment everything is either under our name in /proc/PID/maps or over what was (recover.c).
 */
#ifndef HI_ARENA_RESERVE_H
#define HI_ARENA_RESERVE_H

#include <stdbool.h>

#include "hi_wire.h"
#include "remote.h"

/* Mapped at first: what the control block says, and its heart, of which all is known that counts where nothing else is mapped yet. */
#define ARENA_FIRST_BYTES (2ull * HI_PAGE_BYTES)

/*
 * The first `size` bytes of the file, shared and writable, from `hint` on if there is room (0: anywhere).
 * out_is_locking: the target may be one that locks what it maps. -EAGAIN: it does, and not
 * so much more may be locked. On failure nothing is mapped.
 */
must_check int arena_reserve_file(struct remote *remote, int fd, remote_addr hint, uint64_t size, remote_addr *out_base, bool *out_is_locking);
/* Anonymous memory of its own, at `at`, over what is mapped there; is_locking as above. On failure some of it may be mapped already. */
must_check int arena_reserve_private(struct remote *remote, remote_addr at, uint64_t size, bool is_locking);

#endif
