/* SPDX-License-Identifier: MIT */
/* glibc_caches.c - see glibc_caches.h. */
#include "glibc_caches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap_bytes.h"

/* struct tcache_perthread_struct: so many 16-bit counts, then so many first blocks */
#define LISTS 64u
#define COUNT_BYTES 2u

static uint64_t first_block(const uint8_t *cache, unsigned list)
{
	uint64_t block;

	memcpy(&block, cache + LISTS * COUNT_BYTES + list * GLIBC_WORD, sizeof(block));
	return block;
}

static bool has_blocks(const uint8_t *cache, unsigned list)
{
	uint16_t count;

	memcpy(&count, cache + list * COUNT_BYTES, sizeof(count));
	return count;
}

/* The key of the block, if it can be the first one of that list; 0: it cannot. */
static uint64_t key_of(const struct heap_source *source, const struct glibc_arenas *arenas,
		       remote_addr block, unsigned list)
{
	uint8_t byte[3 * GLIBC_WORD];
	struct heap_bytes head = {.byte = byte, .room = sizeof(byte)};
	const remote_addr at = block - GLIBC_HEAD_BYTES;

	if (!glibc_arenas_region(arenas, block) ||
	    heap_bytes_read(&head, source, at, sizeof(byte)) ||
	    !heap_bytes_has(&head, at, sizeof(byte)) ||
	    (heap_bytes_word(&head, at) & ~(uint64_t)GLIBC_FLAGS) != (list + 2) * GLIBC_ALIGNMENT)
		return 0;
	return heap_bytes_word(&head, at + 2 * GLIBC_WORD);
}

/*
 * Is it the number that is in all blocks of caches? A block may have been given out since its list
 * was read, and then has a word of the program's. The number is random, and malloc has it in a
 * variable.
 */
static bool is_key(const struct heap_source *source, const struct glibc_arenas *arenas,
		   uint64_t word)
{
	const struct heap_bytes *data = &arenas->data;

	if (word <= UINT32_MAX || maps_find(source->maps, word))
		return false;
	for (remote_addr at = data->lo; heap_bytes_has(data, at, GLIBC_WORD); at += GLIBC_WORD)
		if (heap_bytes_word(data, at) == word)
			return true;
	return false;
}

static void add(struct glibc_caches *caches, remote_addr cache)
{
	size_t at = caches->count;

	if (caches->count == caches->room) {
		const size_t room = caches->room ? 2 * caches->room : 16;
		remote_addr *grown = realloc(caches->cache, room * sizeof(*grown));

		if (!grown)
			return;
		caches->cache = grown;
		caches->room = room;
	}
	for (; at && caches->cache[at - 1] > cache; at--)
		caches->cache[at] = caches->cache[at - 1];
	caches->cache[at] = cache;
	caches->count++;
}

bool glibc_caches_add(struct glibc_caches *caches, const struct heap_source *source,
		      const struct glibc_arenas *arenas, remote_addr block, const uint8_t *byte)
{
	uint64_t key = 0;

	for (unsigned list = 0; list < LISTS; list++) {
		const remote_addr first = first_block(byte, list);

		if ((first != 0) != has_blocks(byte, list) || first % GLIBC_ALIGNMENT)
			return false;
	}
	for (unsigned list = 0; list < LISTS; list++) {
		const remote_addr first = first_block(byte, list);

		if (!first)
			continue;
		const uint64_t found = key_of(source, arenas, first, list);

		if (found == block || (found && found == caches->key) ||
		    (!caches->key && is_key(source, arenas, found))) {
			key = found;
			break;
		}
	}
	if (!key)
		return false;
	if (key != block)
		caches->key = key;
	add(caches, block);
	return true;
}

bool glibc_caches_has(const struct glibc_caches *caches, uint64_t second)
{
	size_t low = 0, high = caches->count;

	if (caches->key || !caches->count)
		return caches->key && second == caches->key;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (caches->cache[middle] < second)
			low = middle + 1;
		else
			high = middle;
	}
	return low < caches->count && caches->cache[low] == second;
}

void glibc_caches_close(struct glibc_caches *caches)
{
	free(caches->cache);
	*caches = (struct glibc_caches){0};
}
