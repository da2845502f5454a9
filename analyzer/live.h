/* SPDX-License-Identifier: MIT */
/*
 * live.h - the sampled blocks that are live now, by address, and the last few that were freed: a realloc that fails has freed nothing after all.
 *
 * Zero-initialized = empty.
 */
#ifndef HI_LIVE_H
#define HI_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far back a free can be undone: the record that undoes it follows while the freeing call still runs, only other threads' come between. */
#define LIVE_RECENT 1024u

struct live_block {
	uint64_t address; /* 0 = empty: no block lies there */
	uint64_t bytes;
	uint64_t born_ns, freed_ns; /* the latter once it is */
	uint32_t part;              /* of parts.h, and through it the row */
	uint32_t slack;
};
struct live {
	struct live_block *block;
	size_t size; /* a power of two, or 0 */
	size_t count;
	struct live_block recent[LIVE_RECENT]; /* ring of freed blocks */
	size_t recent_next;
};

/* 0 or -ENOMEM. The address is not 0 and no other block is live there. */
int live_add(struct live *live, const struct live_block *block);
bool live_has(const struct live *live, uint64_t address);
/* Takes the block out, for good unless live_put_back() follows. False: none is live there. */
bool live_take(struct live *live, uint64_t address, uint64_t time_ns, struct live_block *out_block);
/* Finds the block that was last freed at this address, and forgets that it was. The caller adds it again. False: not known, or too long ago. */
bool live_put_back(struct live *live, uint64_t address, struct live_block *out_block);
void live_close(struct live *live);

#endif
