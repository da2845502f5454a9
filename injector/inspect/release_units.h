/* SPDX-License-Identifier: MIT */
/*
 * release_units.h - the units in which the allocators of a process give memory back, and all that
 * is in them but blocks in use: what a walk of the heaps says beside used_blocks.h.
 */
#ifndef HI_RELEASE_UNITS_H
#define HI_RELEASE_UNITS_H

#include "heap.h"

/* As many runs are taken at most: 16 bytes for each. */
#define RELEASE_RUNS_MAX (64u << 20)

/* Adjacent pieces of one kind. */
struct release_run {
	remote_addr lo;
	uint64_t bytes : 61; /* with heads and tails */
	uint64_t kind : 3;   /* enum heap_kind */
};

struct release_runs {
	struct release_run *run;
	size_t count, room;
};

/* Zero-initialized = empty. */
struct release_units {
	struct heap_unit *unit; /* by address */
	size_t count, room;
	struct release_runs unused;    /* by address */
	struct release_runs trimmable; /* what goes back now; of HEAP_FREE, by address */
	bool is_partial;               /* there were more runs */
};

/* Takes what a walk says. */
struct heap_visitor release_units_visitor(struct release_units *units);
/* When the walk is over. */
void release_units_sort(struct release_units *units);
void release_units_close(struct release_units *units);

#endif
