/* SPDX-License-Identifier: MIT */
/* held_memory.c - see held_memory.h. */
#include "held_memory.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* below the largest threshold of mmap that glibc takes, so that the blocks are of the heap */
#define BLOCK_BYTES ((size_t)4 << 20)
#define BLOCKS_MAX 16u

/*
 * A locked stack grows only within RLIMIT_MEMLOCK, also when the privilege is gone later, and a
 * process whose stack cannot grow is killed. So nothing is locked within such a limit.
 */
static int lock(void)
{
	const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};

	return setrlimit(RLIMIT_MEMLOCK, &none) || mlockall(MCL_CURRENT) ? -errno : 0;
}

int held_memory_take(size_t heap_bytes)
{
	void *block[BLOCKS_MAX];
	size_t count = 0;

#ifdef __GLIBC__
	/* what is freed stays */
	(void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
	(void)mallopt(M_MMAP_THRESHOLD, (int)(2 * BLOCK_BYTES));
#endif
	for (; count < BLOCKS_MAX && count * BLOCK_BYTES < heap_bytes; count++) {
		block[count] = malloc(BLOCK_BYTES);
		if (!block[count])
			break;
		memset(block[count], 1, BLOCK_BYTES);
		/* or the compiler may leave all of it out */
		__asm__ volatile("" : : "r"(block[count]) : "memory");
	}
	while (count)
		free(block[--count]);
	return lock();
}
