/* SPDX-License-Identifier: MIT */
/*
 * heap_figures.h - what the allocators of a process have, in a few figures: the part of an account
 * (account.h) that a session takes again and again. Mappings that are no allocator's are not looked
 * at, and smaps is not read.
 */
#ifndef HI_HEAP_FIGURES_H
#define HI_HEAP_FIGURES_H

#include <stdint.h>

#include "heaps.h"
#include "memory.h"

#define HEAP_FIGURES_NAME_MAX 128u

/* In bytes; those without a word are resident or swapped out. Can be sent as it is. */
struct heap_figures {
	uint64_t anonymous;              /* of the process, without what a session has in it */
	uint64_t used_bytes, used_count; /* blocks in use, touched or not */
	uint64_t used;                   /* of these bytes */
	uint64_t free, cached;
	uint64_t trimmable; /* resident: what the allocators would give back */
	uint64_t own;       /* heads of blocks, metadata */
	uint64_t unsure;
	uint64_t cost_ns;                    /* CPU time; the caller sets it */
	char name[HEAP_FIGURES_NAME_MAX];    /* of the allocators */
	char refusal[HEAP_FIGURES_NAME_MAX]; /* "": all were read; else the figures are not whole */
};

/*
 * All figures are 0 if its allocators were never used. deadline_ns: of clock.h. What cannot be read
 * is the refusal. 0, -ENOMEM, or an error of /proc or of the memory.
 */
must_check int heap_figures_take(const struct memory *memory, uint64_t deadline_ns,
				 struct heap_figures *out_figures);

#endif
