/* SPDX-License-Identifier: MIT */
/*
 * jemalloc_caches.c - see jemalloc_caches.h. The layouts are those of cache_bin_array_descriptor_t
 * and cache_bin_t.
 */
#include "jemalloc_caches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "steps.h"

/* cache_bin_array_descriptor_t: links of the ring, then where the stacks are */
#define LINK_NEXT 0
#define LINK_PREVIOUS 1
#define LINK_STACKS 2
#define LINK_LARGE 3 /* before jemalloc 5.3, those of larger blocks */
#define LINK_WORDS 4u
#define STACKS_FAR_MAX (64u << 10) /* from the links to the stacks */

/* cache_bin_t: 24 bytes in all versions */
#define STACK_BYTES 24u
#define STACKS_MAX 80u
#define STACKS_COMPARED 8u
#define STACK_ITEMS_MAX 8191u

#define CACHES_MAX 16384u
#define ARENA_FAR_MAX (16u << 20) /* it is among the first that its own memory has */
#define WORDS_A_LOOK 65536u       /* at the clock */

struct marker {
	struct heap_slabs *slabs;
	struct heap_windows *windows;
	const struct jemalloc_owns *owns;
	unsigned slab_sizes; /* classes of the blocks that are in slabs */
	remote_addr end;     /* of all memory */
	struct heap_bytes bytes;
	remote_addr *cache; /* that were marked */
	size_t count, room;
	struct steps steps;
	uint64_t item[STACK_ITEMS_MAX];
};

/* What is in a stack: the items in [top, end). `full`: where it would be full, or 0. */
struct stack {
	remote_addr top, end;
	uint16_t full;
};

/* ---- stacks ---------------------------------------------------------------------------------- */

/* jemalloc 5.3: the top, a count, and low bits of its bounds. */
static bool take_new(const uint8_t byte[STACK_BYTES], struct stack *stack)
{
	uint16_t low[3];

	memcpy(&stack->top, byte, sizeof(stack->top));
	memcpy(low, byte + 16, sizeof(low));
	stack->end = stack->top + (uint16_t)(low[2] - (uint16_t)stack->top);
	stack->full = low[1];
	return stack->top && stack->top % HEAP_WORD == 0 && stack->end % HEAP_WORD == 0;
}

/* Before: two counts, one more, and the end. */
static bool take_old(const uint8_t byte[STACK_BYTES], struct stack *stack)
{
	int32_t low, items;

	memcpy(&low, byte, sizeof(low));
	memcpy(&items, byte + 4, sizeof(items));
	memcpy(&stack->end, byte + 16, sizeof(stack->end));
	if (!stack->end || stack->end % HEAP_WORD || items < 0 ||
	    items > (int32_t)STACK_ITEMS_MAX || low < -1 || low > items)
		return false;
	stack->top = stack->end - (uint64_t)items * HEAP_WORD;
	stack->full = 0;
	return true;
}

typedef bool take_stack(const uint8_t byte[STACK_BYTES], struct stack *stack);

static int read_stack(struct marker *marker, take_stack *take, remote_addr at, struct stack *stack)
{
	uint8_t byte[STACK_BYTES];
	const int err = heap_windows_read(marker->windows, at, byte, sizeof(byte));

	return err == -ENODATA ? 0 : err ? err : take(byte, stack);
}

/* The stacks of a cache are one after the other in memory; some have no room at all. */
static bool follows(const struct stack *stack, const struct stack *last)
{
	if (stack->end < last->end || stack->end - last->end > (STACK_ITEMS_MAX + 1) * HEAP_WORD)
		return false;
	return stack->full ? stack->full == (uint16_t)last->end
			   : stack->top >= last->end && stack->end > last->end;
}

/* 1: so many stacks are there. */
static int are_stacks(struct marker *marker, take_stack *take, remote_addr stacks)
{
	struct stack stack, last = {0};

	for (unsigned i = 0; i < STACKS_COMPARED; i++) {
		const int found = read_stack(marker, take, stacks + i * STACK_BYTES, &stack);

		if (found <= 0)
			return found;
		if (i && (!follows(&stack, &last) || stack.end == last.end))
			return 0;
		last = stack;
	}
	return 1;
}

/* Marks what was in the stack before and after its items were read. */
static int mark_stack(struct marker *marker, take_stack *take, remote_addr at, unsigned size_class,
		      const struct stack *before)
{
	const size_t count = (before->end - before->top) / HEAP_WORD;
	struct stack after = *before;
	int err = 0;

	if (!count || count > STACK_ITEMS_MAX)
		return 0;
	err = heap_windows_read(marker->windows, before->top, marker->item, count * HEAP_WORD);
	if (err)
		return err == -ENODATA ? 0 : err;
	/* what was taken meanwhile is at the top */
	heap_windows_drop(marker->windows);
	err = read_stack(marker, take, at, &after);
	if (err < 0 || after.end != before->end)
		return err < 0 ? err : 0;
	const size_t gone = after.top > before->top ? (after.top - before->top) / HEAP_WORD : 0;

	marker->slabs->reread += gone != 0;
	for (size_t i = gone; i < count; i++) {
		const uint64_t block = heap_slabs_block(marker->slabs, marker->item[i], size_class);

		if (block != HEAP_NO_BLOCK)
			heap_slabs_mark(marker->slabs, block, HEAP_MARK_CACHED);
	}
	return 0;
}

/*
 * Marks the block that has the items of a cache: what was taken from a stack is still written there
 * and would seem to be referred to.
 */
static void mark_items(const struct marker *marker, const struct stack *stack)
{
	const uint64_t block = heap_slabs_block_with(marker->slabs, stack->end - HEAP_WORD);

	if (block != HEAP_NO_BLOCK)
		heap_slabs_mark(marker->slabs, block, HEAP_MARK_OWN);
}

static int mark_stacks(struct marker *marker, take_stack *take, remote_addr stacks,
		       unsigned size_class, unsigned most)
{
	struct stack stack, last = {0};

	for (unsigned i = 0; i < most; i++) {
		const remote_addr at = stacks + i * STACK_BYTES;
		int err = read_stack(marker, take, at, &stack);

		if (err <= 0 || (i && !follows(&stack, &last)))
			return err < 0 ? err : 0;
		/* the first one may have no room, and then its end is no place in the block */
		if (i == 1)
			mark_items(marker, &stack);
		err = mark_stack(marker, take, at, size_class + i, &stack);
		if (err)
			return err;
		last = stack;
	}
	return 0;
}

/* ---- rings ----------------------------------------------------------------------------------- */

static bool is_known(const struct marker *marker, remote_addr links)
{
	for (size_t i = 0; i < marker->count; i++)
		if (marker->cache[i] == links)
			return true;
	return false;
}

static int add_known(struct marker *marker, remote_addr links)
{
	if (marker->count == marker->room) {
		const size_t room = marker->room ? 2 * marker->room : 64;
		remote_addr *grown = realloc(marker->cache, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		marker->cache = grown;
		marker->room = room;
	}
	marker->cache[marker->count++] = links;
	return 0;
}

/* The links of a cache, if this is one: 1. */
static int read_links(struct marker *marker, remote_addr at, uint64_t link[LINK_WORDS])
{
	uint64_t previous;
	int err = heap_windows_read(marker->windows, at, link, LINK_WORDS * HEAP_WORD);

	if (!err &&
	    (!link[LINK_NEXT] || link[LINK_NEXT] % HEAP_WORD || link[LINK_STACKS] % HEAP_WORD ||
	     link[LINK_STACKS] - at + STACKS_FAR_MAX > 2 * STACKS_FAR_MAX))
		return 0;
	if (!err)
		err = heap_windows_word(marker->windows,
					link[LINK_NEXT] + LINK_PREVIOUS * HEAP_WORD, &previous);
	return err == -ENODATA ? 0 : err ? err : previous == at;
}

static int mark_cache(struct marker *marker, remote_addr at, const uint64_t link[LINK_WORDS])
{
	const remote_addr stacks = link[LINK_STACKS];
	int found = are_stacks(marker, take_new, stacks);

	if (found > 0)
		found = mark_stacks(marker, take_new, stacks, 0, STACKS_MAX);
	else if (!found && (found = are_stacks(marker, take_old, stacks)) > 0)
		found = mark_stacks(marker, take_old, stacks, 0, marker->slab_sizes);
	else
		return found < 0 ? found : -ENOENT;
	/* those of larger blocks are in the same array, or in one of their own */
	const remote_addr large = link[LINK_LARGE];

	if (!found && large % HEAP_WORD == 0 && large - at + STACKS_FAR_MAX < 2 * STACKS_FAR_MAX &&
	    are_stacks(marker, take_new, stacks) == 0)
		found = mark_stacks(marker, take_old, large, marker->slab_sizes, STACKS_MAX);
	return found ? found : add_known(marker, at);
}

/* All caches of the ring to which `at` belongs, if it is one. */
static int mark_ring(struct marker *marker, remote_addr at)
{
	int err = 0;

	while (!err && !is_known(marker, at) && steps_take(&marker->steps)) {
		uint64_t link[LINK_WORDS];
		const int found = read_links(marker, at, link);

		if (found <= 0)
			return found;
		err = mark_cache(marker, at, link);
		at = link[LINK_NEXT];
	}
	return err == -ENOENT ? 0 : err;
}

/* Can the word lead to the links of a cache? They are with a thread's variables, or in a block. */
static bool is_candidate(const struct marker *marker, uint64_t word)
{
	if (!word || word % HEAP_WORD || word >= marker->end ||
	    jemalloc_owns_at(marker->owns, word))
		return false;
	const struct heap_slab *slab = heap_slabs_find(marker->slabs, word);
	const struct mapping *mapping = maps_find(marker->windows->source->maps, word);

	return mapping && mapping->writable &&
	       (!slab || (slab->blocks && word != slab->lo && word != slab->block));
}

static int mark_in(struct marker *marker, const struct jemalloc_own *own)
{
	const uint64_t deadline_ns = marker->windows->source->deadline_ns;
	const uint64_t bytes = own->hi - own->lo;
	int err = heap_bytes_read(&marker->bytes, marker->windows->source, own->lo,
				  bytes < ARENA_FAR_MAX ? bytes : ARENA_FAR_MAX);
	unsigned looked = 0;

	for (remote_addr at = own->lo; !err && heap_bytes_has(&marker->bytes, at, HEAP_WORD);
	     at += HEAP_WORD) {
		const uint64_t word = heap_bytes_word(&marker->bytes, at);

		if (looked++ % WORDS_A_LOOK == 0 && clock_now_ns() >= deadline_ns)
			return -ETIMEDOUT;
		if (is_candidate(marker, word))
			err = mark_ring(marker, word);
	}
	return err;
}

int jemalloc_caches_mark(struct heap_slabs *slabs, struct heap_windows *windows,
			 const struct jemalloc_owns *owns, unsigned slab_sizes, size_t *out_caches)
{
	struct marker *marker = calloc(1, sizeof(*marker));
	int err = 0;

	if (!marker)
		return -ENOMEM;
	marker->slabs = slabs;
	marker->windows = windows;
	marker->owns = owns;
	marker->slab_sizes = slab_sizes;
	marker->end = maps_end(windows->source->maps);
	marker->steps.left = CACHES_MAX;
	heap_windows_drop(windows);
	for (size_t i = 0; i < owns->count && !err; i++)
		if (owns->own[i].is_first)
			err = mark_in(marker, &owns->own[i]);
	*out_caches = marker->count;
	heap_bytes_close(&marker->bytes);
	free(marker->cache);
	free(marker);
	return err;
}
