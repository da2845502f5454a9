/* SPDX-License-Identifier: MIT */
/*
 * elf_unpack.h - unpacks mini debug information (.gnu_debugdata, hi_debug_files.h).
 *
 * The decoder runs in a process of its own, which has no descriptors and may make no system call
 * but to end: the target chose what is decoded, and the injector may have all rights.
 */
#ifndef HI_ELF_UNPACK_H
#define HI_ELF_UNPACK_H

#include <stdint.h>

#include "memory.h"

/* Of all objects of a process together. */
struct elf_unpack_room {
	uint64_t bytes; /* unpacked */
	unsigned ms;
};

/*
 * Unpacks size bytes at offset of fd into a new memory file, *out_fd. What is needed is taken off
 * room. -ENOENT: it cannot be unpacked, or not within room. Takes milliseconds; not while a thread
 * of the target is stopped.
 */
must_check int elf_unpack(int fd, uint64_t offset, uint64_t size, struct elf_unpack_room *room,
			  int *out_fd);

#endif
