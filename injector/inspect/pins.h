/* SPDX-License-Identifier: MIT */
/*
 * pins.h - which blocks in use pin free memory: keep pages or slabs that are mostly free from going
 * back to the system.
 *
 * Memory goes back by units (heap.h): a page of glibc, a slab of others. The free and cached bytes
 * of a unit, as far as they are resident, are charged to the blocks in use that reach into it, to
 * each of them the same. Free units are charged to nobody: a trim gives them back.
 *
 * Functions over numbers: there need be no process.
 */
#ifndef HI_PINS_H
#define HI_PINS_H

#include "mark.h"
#include "release_units.h"
#include "resident.h"

/* Of a group of blocks. */
struct pin {
	uint64_t pinned; /* free bytes that are charged to its blocks */
	/*
	 * What would go back at the next trim if all blocks of the group were freed: units that no
	 * other block and nothing else holds. With what the blocks have themselves.
	 */
	uint64_t goes_back;
};

/* All in bytes that are resident. */
struct pins {
	uint64_t free;      /* and cached: all there is */
	uint64_t trimmable; /* what goes back now */
	/* of free: in units that are held by blocks in use, only by cached ones, only by others */
	uint64_t pinned, pinned_by_caches, pinned_by_others;
	struct pin *group; /* by number; owned */
	size_t count;
};

struct pins_of {
	const struct mark_block *block; /* by address */
	size_t count;
	const uint32_t *group; /* by block */
	size_t group_count;
	const struct release_units *units; /* sorted */
	struct resident *resident;
};

/* 0 or -ENOMEM. Close it in either case. */
must_check int pins_find(const struct pins_of *of, struct pins *out_pins);
void pins_close(struct pins *pins);

#endif
