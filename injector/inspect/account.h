/* SPDX-License-Identifier: MIT */
/*
 * Room inspect/: what a process has in its memory, seen from outside, while it runs or is stopped.
 *
 *   account.h          what the resident memory consists of: start here
 *   account_part.h     the parts; account_rest.h: which of them a mapping is that no allocator
 *                      has
 *
 *   heap_figures.h     what its allocators have, for sessions
 *   inspected.h        the process, opened for reading; frozen.h: stopped, and copied
 *   used_blocks.h      all blocks in use; census.h: counted by content.h: what they hold;
 *                      type_info.h: C++ classes
 *   pins.h             which of these keep free memory from going back; release_units.h: in what
 *                      units it would
 *   live_roots.h       where pointers to them are beside blocks; data_places.h: variables there
 *   leaked_blocks.h    blocks that nothing refers to
 *   owners.h           what retains the others; references.h: by which pointers
 *   graph.h            a graph of numbers; dominators.h: its dominator tree;
 *                      shortest_paths.h: how its nodes are reached
 *
 * Uses heaps/, reach/, arena/, tracee/, elf/, target/. Only reads.
 */

/*
 * account.h - what the resident memory of a process consists of: each resident byte in one part.
 *
 * An allocator's memory is divided by its reader (heaps.h), page by page: of a piece only those
 * bytes count that lie in pages that are in memory. All else is divided by mappings. If the process
 * runs on, figures of one account are of about the same time, and the sum of its parts and
 * what the kernel says may differ by what changed meanwhile.
 */
#ifndef HI_ACCOUNT_H
#define HI_ACCOUNT_H

#include "account_part.h"
#include "heaps.h"
#include "smaps.h"

struct account_sum {
	uint64_t bytes; /* of addresses */
	uint64_t resident, swapped;
	uint64_t huge;  /* of resident: in transparent huge pages */
	uint64_t count; /* blocks, pieces, mappings */
};

struct account_arena {
	uint64_t used, free_resident; /* bytes */
};

/* A mapping that is no allocator's. */
struct account_mapping {
	enum account_part part;
	/* of its file, or as the kernel names it, without control characters; "" = none */
	char name[64];
	uint64_t bytes, resident;
};
#define ACCOUNT_MAPPINGS 8u
#define ACCOUNT_SAMPLES 512u

struct account {
	uint64_t at_ns; /* clock.h */
	struct account_sum part[ACCOUNT_PARTS];
	uint64_t trimmable;         /* resident bytes that the allocators would give back */
	uint64_t resident, swapped; /* as the kernel counts them */
	uint64_t huge;              /* of resident: in transparent huge pages */
	/*
	 * Of huge: pages of zeros, which only the size of huge pages made resident. Estimated from
	 * ACCOUNT_SAMPLES of its pages; huge_sampled: so many could be read.
	 */
	uint64_t huge_zero;
	unsigned huge_sampled;
	struct account_arena *arena; /* of all allocators together, by the number of the arena */
	size_t arena_count;
	size_t threads;
	/* how often they were stopped for this, and for how long at most */
	unsigned held_times;
	uint64_t held_ns;
	uint32_t
		runtimes; /* 1 << enum hi_runtime: with heaps of their own, in anonymous mappings */
	struct heaps heaps;
	/* the largest by what is resident, but for allocators' */
	struct account_mapping mapping[ACCOUNT_MAPPINGS];
	size_t mapping_count;
	bool is_partial; /* it took too long: an allocator's memory was not seen as a whole */
};

struct account_source {
	const struct memory *memory;
	uint64_t deadline_ns; /* clock.h */
};

/* 0, -ENOMEM, or an error of /proc or of the memory. Close it in either case. */
must_check int account_take(const struct account_source *source, struct account *out_account);
void account_close(struct account *account);

/* The sum of all parts. */
uint64_t account_resident(const struct account *account);

#endif
