/* SPDX-License-Identifier: MIT */
/*
 * sites.h - for targets that allocate by functions of known names, which are sites, and that count
 * what each of them allocates. Used with any libc.
 */
#ifndef SITES_H
#define SITES_H

#include <stdint.h>

#include "target.h"

/* noinline and no tail call, so that each site is a frame of its own. */
#define SITE(name, call)                                         \
	__attribute__((noinline)) static void *name(size_t size) \
	{                                                        \
		void *block = call;                              \
		__asm__ volatile("" : "+r"(block) : : "memory"); \
		return block;                                    \
	}

static inline void *aligned(size_t alignment, size_t size)
{
	void *block = NULL;

	return posix_memalign(&block, alignment, size) ? NULL : block;
}

struct site_truth {
	uint64_t live_bytes, live_count, bytes, count;
};

/* grows: it was allocated with half its size first, which are two allocations. */
static inline void site_allocates(struct site_truth *truth, size_t size, int grows)
{
	truth->count += grows ? 2 : 1;
	truth->bytes += grows ? size + size / 2 : size;
}

static inline void site_keeps(struct site_truth *truth, size_t size)
{
	truth->live_count++;
	truth->live_bytes += size;
}

/* What the answer has of a site: NAME:LIVE-BYTES:LIVE-BLOCKS:BYTES:BLOCKS. */
static inline size_t site_print(char *to, size_t room, const char *name,
				const struct site_truth *truth)
{
	return (size_t)snprintf(to, room, " %s:%lu:%lu:%lu:%lu", name,
				(unsigned long)truth->live_bytes, (unsigned long)truth->live_count,
				(unsigned long)truth->bytes, (unsigned long)truth->count);
}

#endif
