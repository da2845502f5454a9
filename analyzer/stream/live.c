/* SPDX-License-Identifier: MIT */
/*
 * live.c - open addressing with linear probing, at most half full. When a block is removed, later
 * ones move up into its slot, so there are no tombstones.
 */
#include "live.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LIVE_FIRST_BITS 10u
#define HUGE_PAGE (2u << 20)
#define LIVE_HASH 0x9e3779b97f4a7c15ull

/*
 * The upper bits of the product depend on the whole address. Blocks at regular distances spread
 * evenly.
 */
static inline size_t live_home(const struct live *live, uint64_t address)
{
	return (size_t)(address * LIVE_HASH >> live->shift);
}

/* Where the block is, or where it would go. */
static inline size_t live_seek(const struct live *live, uint64_t address)
{
	size_t at = live_home(live, address);

	while (live->block[at].address && live->block[at].address != address)
		at = (at + 1) & (live->size - 1);
	return at;
}

/*
 * Allocates empty slots. A large table uses huge pages, where available: its slots are asked for in
 * no order, and otherwise each would first cost a walk through the page tables.
 */
static struct live_block *live_new(size_t size)
{
	const size_t bytes = size * sizeof(struct live_block);
	void *blocks;

	if (posix_memalign(&blocks, bytes < HUGE_PAGE ? 2 * sizeof(struct live_block) : HUGE_PAGE,
			   bytes))
		return NULL;
	if (bytes >= HUGE_PAGE)
		(void)madvise(blocks, bytes, MADV_HUGEPAGE);
	return memset(blocks, 0, bytes);
}

static bool live_grow(struct live *live)
{
	struct live_block *const old = live->block;
	const size_t old_size = live->size,
		     size = old_size ? old_size * 2 : (size_t)1 << LIVE_FIRST_BITS;
	struct live_block *const blocks = live_new(size);

	if (!blocks)
		return false;
	live->block = blocks;
	live->size = size;
	live->shift = 64u - (unsigned)__builtin_ctzll(size);
	for (size_t i = 0; i < old_size; i++) {
		if (old[i].address)
			live->block[live_seek(live, old[i].address)] = old[i];
	}
	free(old);
	return true;
}

struct live_block *live_place(struct live *live, uint64_t address)
{
	if (live->count >= live->size / 2 && !live_grow(live))
		return NULL;
	return &live->block[live_seek(live, address)];
}

/*
 * Closes the hole: each block that follows without a gap moves up into it, unless its home slot
 * lies after the hole.
 */
static void live_remove(struct live *live, size_t hole)
{
	const size_t mask = live->size - 1;

	for (size_t at = (hole + 1) & mask; live->block[at].address; at = (at + 1) & mask) {
		size_t home = live_home(live, live->block[at].address);

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			live->block[hole] = live->block[at];
			hole = at;
		}
	}
	live->block[hole].address = 0;
	live->count--;
}

const struct live_block *live_find(const struct live *live, uint64_t address)
{
	const struct live_block *block =
		live->count && address ? &live->block[live_seek(live, address)] : NULL;

	return block && block->address ? block : NULL;
}

bool live_has(const struct live *live, uint64_t address)
{
	return live_find(live, address) != NULL;
}

bool live_drop(struct live *live, uint64_t address, struct live_block *out_block)
{
	size_t at;

	if (!live->count || !address)
		return false;
	at = live_seek(live, address);
	if (!live->block[at].address)
		return false;
	*out_block = live->block[at];
	live_remove(live, at);
	return true;
}

void live_pass(struct live *live, const struct live_block *block, uint64_t freed_ns)
{
	live->recent[live->recent_next++ % LIVE_RECENT] = (struct live_freed){*block, freed_ns};
}

bool live_take(struct live *live, uint64_t address, uint64_t freed_ns, struct live_block *out_block)
{
	if (!live_drop(live, address, out_block))
		return false;
	live_pass(live, out_block, freed_ns);
	return true;
}

bool live_put_back(struct live *live, uint64_t address, struct live_freed *out_freed)
{
	for (size_t back = 1; back <= LIVE_RECENT && back <= live->recent_next && address; back++) {
		struct live_freed *freed = &live->recent[(live->recent_next - back) % LIVE_RECENT];

		if (freed->block.address == address) {
			*out_freed = *freed;
			freed->block.address = 0;
			return true;
		}
	}
	return false;
}

static int compare_numbers(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* The bytes of the pieces that a block reaches after the piece where it begins. */
static uint64_t further_bytes(const struct live_block *block, uint64_t piece)
{
	const uint64_t begins = block->address & (piece - 1);

	return block->bytes ? (begins + block->bytes - 1) / piece * piece : 0;
}

uint64_t live_spread(const struct live *live, uint64_t piece)
{
	uint64_t *begin = live->count ? malloc(live->count * sizeof(*begin)) : NULL, spread = 0;
	size_t count = 0;

	for (size_t i = 0; begin && i < live->size; i++) {
		if (!live->block[i].address)
			continue;
		begin[count++] = live->block[i].address / piece;
		if (__builtin_add_overflow(spread, further_bytes(&live->block[i], piece), &spread))
			spread = UINT64_MAX / 2; /* such a stream is not believed in any case */
	}
	if (count)
		qsort(begin, count, sizeof(*begin), compare_numbers);
	for (size_t i = 0; i < count; i++)
		spread += i == 0 || begin[i] != begin[i - 1] ? piece : 0;
	free(begin);
	return spread;
}

void live_prefetch(const struct live *live, uint64_t address)
{
	if (live->size)
		__builtin_prefetch(&live->block[live_home(live, address)], 1);
}

uint32_t live_hint(const struct live *live, uint64_t address)
{
	const struct live_block *home = live->size ? &live->block[live_home(live, address)] : NULL;

	return home && home->address == address ? home->part : UINT32_MAX;
}

void live_close(struct live *live)
{
	free(live->block);
	live->block = NULL;
	live->size = live->count = 0;
}
