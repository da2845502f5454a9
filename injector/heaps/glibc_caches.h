/* SPDX-License-Identifier: MIT */
/*
 * glibc_caches.h - blocks in glibc's caches of threads (tcache), which look like blocks in use but
 * for their second word: that is one number for all of them (glibc 2.34 and later), or the address
 * of the cache that the block is in. malloc clears it.
 */
#ifndef HI_GLIBC_CACHES_H
#define HI_GLIBC_CACHES_H

#include "glibc_arenas.h"

/* The chunk of a cache itself. */
#define GLIBC_CACHE_CHUNK_BYTES 0x290u

struct glibc_caches {
	uint64_t key;       /* 0 = no cache was found */
	remote_addr *cache; /* by address; where the key is the address of the cache */
	size_t count, room;
};

/*
 * Is there a cache in the block at `block`, which is of GLIBC_CACHE_CHUNK_BYTES and whose bytes are
 * given? One that is empty is not recognized. True: it is in `caches` now.
 */
bool glibc_caches_add(struct glibc_caches *caches, const struct heap_source *source,
		      const struct glibc_arenas *arenas, remote_addr block, const uint8_t *byte);
void glibc_caches_close(struct glibc_caches *caches);

/* second: the second word of a block. */
bool glibc_caches_has(const struct glibc_caches *caches, uint64_t second);

#endif
