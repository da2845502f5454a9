/* SPDX-License-Identifier: MIT */
/*
 * glibc_bins_read.h - the free chunks that an arena of glibc lists: where a walk over its chunks
 * can go on after it has lost the way.
 */
#ifndef HI_GLIBC_BINS_READ_H
#define HI_GLIBC_BINS_READ_H

#include "heap.h"

/*
 * The first chunk after `at` in the lists of the arena at `arena`. *out_chunk stays if there is
 * none. 0, or an error of the memory.
 */
must_check int glibc_bins_next(const struct heap_source *source, remote_addr arena, remote_addr at,
			       remote_addr *out_chunk);

#endif
