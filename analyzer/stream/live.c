/* SPDX-License-Identifier: MIT */
/*
 * live.c - open addressing with linear probing, about half full at most. When a block is removed,
 * later ones move up into its slot, so there are no tombstones.
 *
 * A table that is half full is moved into one of twice the size, a few slots for each block that is
 * added: while the analyzer does anything at once for millions of blocks, the rings of a program
 * that runs on become full. No slot of the new table is touched before its turn, and the old one is
 * given back page by page. Start at live_place().
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
 * evenly. In a table of twice the size a home is twice as far, or one more: so a table moves into
 * the next one from front to back, and only the pages that are in turn are touched.
 */
static inline size_t home_in(const struct live_table *table, uint64_t address)
{
	return (size_t)(address * LIVE_HASH >> table->shift);
}

/* Where the block is, or where it would go. */
static inline size_t seek_in(const struct live_table *table, uint64_t address)
{
	size_t at = home_in(table, address);

	while (table->block[at].address && table->block[at].address != address)
		at = (at + 1) & (table->size - 1);
	return at;
}

/*
 * Closes the hole: each block that follows without a gap moves up into it, unless its home slot
 * lies after the hole.
 */
static void remove_from(struct live_table *table, size_t hole)
{
	const size_t mask = table->size - 1;

	for (size_t at = (hole + 1) & mask; table->block[at].address; at = (at + 1) & mask) {
		size_t home = home_in(table, table->block[at].address);

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			table->block[hole] = table->block[at];
			hole = at;
		}
	}
	table->block[hole].address = 0;
}

/* ---- growing --------------------------------------------------------------------------------- */

/* The table that has the block of this address, or would have it: the old one until its turn. */
static inline const struct live_table *table_of(const struct live *live, uint64_t address)
{
	const struct live_table *old = &live->old;

	if (__builtin_expect(old->size != 0, 0) &&
	    ((home_in(old, address) - live->begin) & (old->size - 1)) >= live->done)
		return old;
	return &live->table;
}

/*
 * Maps empty slots, none of which is touched yet. A large table uses huge pages, where available:
 * its slots are asked for in no order, and otherwise each would first cost a walk through the page
 * tables.
 */
static bool table_map(struct live_table *table, size_t size)
{
	const size_t bytes = size * sizeof(struct live_block);
	char *memory = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	const size_t before = -(uintptr_t)memory & (HUGE_PAGE - 1);

	if (before)
		munmap(memory, before);
	munmap(memory + before + bytes, HUGE_PAGE - before);
	(void)madvise(memory + before, bytes, MADV_HUGEPAGE);
	table->block = (struct live_block *)(void *)(memory + before);
	return true;
}

static bool table_open(struct live_table *table, size_t size)
{
	const size_t bytes = size * sizeof(struct live_block);
	void *blocks = NULL;

	if (bytes >= HUGE_PAGE) {
		if (!table_map(table, size))
			return false;
	} else {
		if (posix_memalign(&blocks, 2 * sizeof(struct live_block), bytes))
			return false;
		table->block = memset(blocks, 0, bytes);
	}
	table->size = size;
	table->shift = 64u - (unsigned)__builtin_ctzll(size);
	return true;
}

static void table_close(struct live_table *table)
{
	const size_t bytes = table->size * sizeof(struct live_block);

	if (bytes >= HUGE_PAGE)
		munmap(table->block, bytes);
	else
		free(table->block);
	*table = (struct live_table){0};
}

/* Gives back a huge page of the old table, if this was the last slot in it. */
static void release_before(struct live *live, size_t end)
{
	const size_t slots = HUGE_PAGE / sizeof(struct live_block);

	if (end % slots == 0 && end <= live->old.size && end - live->begin >= slots)
		(void)madvise(&live->old.block[end - slots], HUGE_PAGE, MADV_DONTNEED);
}

/*
 * Moves on by LIVE_STEP slots, and to the end of the run of blocks there: before and after what has
 * been moved a slot is empty, so that each block is in the table where its home says.
 */
static void move_some(struct live *live)
{
	struct live_table *old = &live->old;
	size_t end = live->begin + live->done, slots = 0;

	for (bool is_run = false; slots < LIVE_STEP || is_run; slots++, end++) {
		struct live_block *from = &old->block[end & (old->size - 1)];

		is_run = from->address;
		if (is_run) {
			live->table.block[seek_in(&live->table, from->address)] = *from;
			from->address = 0;
			live->moved++;
		} else if (slots + live->done >= old->size) {
			table_close(old);
			return;
		}
		release_before(live, end + 1);
	}
	live->done += slots;
}

static bool live_grow(struct live *live)
{
	struct live_table next;

	while (live->old.size) /* not needed: LIVE_STEP is large enough */
		move_some(live);
	if (!table_open(&next,
			live->table.size ? live->table.size * 2 : (size_t)1 << LIVE_FIRST_BITS))
		return false;
	live->old = live->table;
	live->table = next;
	live->begin = live->done = 0;
	if (!live->old.size)
		return true;
	while (live->old.block[live->begin].address) /* at most half of them */
		live->begin++;
	live->begin++;
	return true;
}

struct live_block *live_place(struct live *live, uint64_t address)
{
	if (live->count >= live->table.size / 2 && !live_grow(live))
		return NULL;
	if (live->old.size)
		move_some(live);
	const struct live_table *table = table_of(live, address);

	return &table->block[seek_in(table, address)];
}

/* ---- use ------------------------------------------------------------------------------------- */

const struct live_block *live_find(const struct live *live, uint64_t address)
{
	const struct live_table *table = table_of(live, address);
	const struct live_block *block =
		live->count && address ? &table->block[seek_in(table, address)] : NULL;

	return block && block->address ? block : NULL;
}

bool live_has(const struct live *live, uint64_t address)
{
	return live_find(live, address) != NULL;
}

bool live_drop(struct live *live, uint64_t address, struct live_block *out_block)
{
	if (!live->count || !address)
		return false;
	struct live_table *table =
		table_of(live, address) == &live->old ? &live->old : &live->table;
	const size_t at = seek_in(table, address);

	if (!table->block[at].address)
		return false;
	*out_block = table->block[at];
	remove_from(table, at);
	live->count--;
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

	const struct live_block *block;

	for (size_t at = 0; begin && (block = live_next(live, &at));) {
		begin[count++] = block->address / piece;
		if (__builtin_add_overflow(spread, further_bytes(block, piece), &spread))
			spread = UINT64_MAX / 2; /* such a stream is not believed in any case */
	}
	if (count)
		qsort(begin, count, sizeof(*begin), compare_numbers);
	for (size_t i = 0; i < count; i++)
		spread += i == 0 || begin[i] != begin[i - 1] ? piece : 0;
	free(begin);
	return spread;
}

const struct live_block *live_next(const struct live *live, size_t *at)
{
	while (*at < live->old.size + live->table.size) {
		const size_t slot = (*at)++;
		const struct live_block *block =
			slot < live->old.size ? &live->old.block[slot]
					      : &live->table.block[slot - live->old.size];

		if (block->address)
			return block;
	}
	return NULL;
}

void live_prefetch(const struct live *live, uint64_t address)
{
	const struct live_table *table = table_of(live, address);

	if (table->size)
		__builtin_prefetch(&table->block[home_in(table, address)], 1);
}

uint32_t live_hint(const struct live *live, uint64_t address)
{
	const struct live_table *table = table_of(live, address);
	const struct live_block *home = table->size ? &table->block[home_in(table, address)] : NULL;

	return home && home->address == address ? home->part : UINT32_MAX;
}

void live_close(struct live *live)
{
	table_close(&live->old);
	table_close(&live->table);
	live->count = 0;
}
