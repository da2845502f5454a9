/* SPDX-License-Identifier: MIT */
/*
 * glibc_first.h - the first arena, which is in the data of the C library or of a static program,
 * and what malloc knows beside its arenas (struct malloc_par).
 */
#ifndef HI_GLIBC_FIRST_H
#define HI_GLIBC_FIRST_H

#include "heap.h"
#include "heap_bytes.h"

/*
 * Reads the writable segment that has the first arena. -ENOENT: none has. Or -ENOMEM, or an error
 * of the memory. To be closed in either case.
 */
must_check int glibc_first_find(const struct heap_source *source, const struct elf_image *image,
				struct heap_bytes *data, remote_addr *out_arena);

struct glibc_numbers {
	remote_addr sbrk_base; /* where the heap begins; 0: not known */
	uint64_t mapped_count; /* of blocks that have a mapping of their own; UINT64_MAX: not known
				*/
};

/* heap_lo, top: of the first arena, in whose memory sbrk_base has to be. */
struct glibc_numbers glibc_numbers_find(const struct heap_bytes *data, remote_addr heap_lo,
					remote_addr top);

#endif
