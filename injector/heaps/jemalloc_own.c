/* SPDX-License-Identifier: MIT */
/* jemalloc_own.c - see jemalloc_own.h. The layout is that of base_block_t. */
#include "jemalloc_own.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "steps.h"

/* base_block_t: its size, the next one, and the descriptor of what is left of it */
#define BLOCK_NEXT 8u
#define BLOCK_REST 24u
#define BLOCK_REST_BYTES 32u
#define BLOCK_HEAD_BYTES 144u
#define BLOCK_ALIGNMENT (2ull << 20)
#define BLOCK_ALIGNMENTS_MAX 512u /* that a block is long */
#define BLOCKS_MAX 65536u

/* Is there the head of a block that has this address? 1, 0, or an error. */
static int read_block(struct heap_windows *windows, remote_addr head, remote_addr at,
		      struct jemalloc_own *own, remote_addr *out_next)
{
	uint64_t word[5];
	const int err = heap_windows_read(windows, head, word, sizeof(word));
	const uint64_t size = word[0], rest = word[BLOCK_REST / 8],
		       rest_bytes = word[BLOCK_REST_BYTES / 8];

	if (err)
		return err == -ENODATA ? 0 : err;
	if (!size || size % BLOCK_ALIGNMENT || size > BLOCK_ALIGNMENTS_MAX * BLOCK_ALIGNMENT ||
	    at - head >= size || word[BLOCK_NEXT / 8] % BLOCK_ALIGNMENT ||
	    rest < head + BLOCK_HEAD_BYTES || rest > head + size ||
	    rest_bytes != head + size - rest)
		return 0;
	*own = (struct jemalloc_own){
		.head = head,
		.lo = head + BLOCK_HEAD_BYTES,
		.hi = rest,
		.end = head + size,
		.is_first = !word[BLOCK_NEXT / 8],
	};
	*out_next = word[BLOCK_NEXT / 8];
	return 1;
}

static int add_block(struct jemalloc_owns *owns, const struct jemalloc_own *own)
{
	if (owns->count == owns->room) {
		const size_t room = owns->room ? 2 * owns->room : 16;
		struct jemalloc_own *grown = realloc(owns->own, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		owns->own = grown;
		owns->room = room;
	}
	size_t at = owns->count++;

	for (; at && owns->own[at - 1].head > own->head; at--)
		owns->own[at] = owns->own[at - 1];
	owns->own[at] = *own;
	return 0;
}

const struct jemalloc_own *jemalloc_owns_at(const struct jemalloc_owns *owns, remote_addr at)
{
	size_t low = 0, high = owns->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (owns->own[middle].end <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < owns->count && owns->own[low].head <= at ? &owns->own[low] : NULL;
}

/* The block that has this address, and those after it in its chain. */
static int add_chain(struct jemalloc_owns *owns, struct heap_windows *windows, remote_addr at,
		     struct steps *steps)
{
	remote_addr head = at / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT, next = 0;
	struct jemalloc_own own;
	int found = 0;

	for (unsigned i = 0; i < BLOCK_ALIGNMENTS_MAX && !found && head; i++) {
		found = read_block(windows, head, at, &own, &next);
		head -= BLOCK_ALIGNMENT;
	}
	while (found > 0 && !jemalloc_owns_at(owns, own.head) && steps_take(steps)) {
		found = add_block(owns, &own);
		if (!found && next)
			found = read_block(windows, next, next, &own, &next);
	}
	return found < 0 ? found : 0;
}

int jemalloc_owns_find(struct jemalloc_owns *owns, struct heap_windows *windows,
		       const struct heap_slabs *slabs)
{
	struct steps steps = {BLOCKS_MAX};
	int err = 0;

	for (size_t i = 0; i < slabs->count && !err && steps.left; i++) {
		const remote_addr at = slabs->slab[i].descriptor;

		if (at && !jemalloc_owns_at(owns, at))
			err = add_chain(owns, windows, at, &steps);
	}
	return err;
}

void jemalloc_owns_close(struct jemalloc_owns *owns)
{
	free(owns->own);
	*owns = (struct jemalloc_owns){0};
}
