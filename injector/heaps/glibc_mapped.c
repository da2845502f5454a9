/* SPDX-License-Identifier: MIT */
/* glibc_mapped.c - see glibc_mapped.h. */
#include "glibc_mapped.h"

#include "heap_bytes.h"
#include "hi_page.h"

#define HEAD_BYTES (2 * GLIBC_WORD)
#define ROOM_BYTES (1ull << 30) /* as much is looked at page by page */
/* memalign puts a second head before an aligned address, up to this alignment */
#define ALIGNMENT_MAX (1ull << 30)

/* The head at `at`: what its mapping has before it, and its size. False: none of such a block. */
static bool read_head(const struct heap_source *source, remote_addr at, uint64_t *out_before,
		      uint64_t *out_size)
{
	uint8_t byte[HEAD_BYTES];
	struct heap_bytes bytes = {.byte = byte, .room = sizeof(byte)};

	if (heap_bytes_read(&bytes, source, at, sizeof(byte)) ||
	    !heap_bytes_has(&bytes, at, sizeof(byte)))
		return false;
	const uint64_t head = heap_bytes_word(&bytes, at + GLIBC_WORD);

	*out_before = heap_bytes_word(&bytes, at);
	*out_size = head & ~(uint64_t)GLIBC_FLAGS;
	return (head & GLIBC_FLAGS) == GLIBC_IS_MAPPED;
}

/* The mapping's bytes, if a block's begins at `at`; 0: none does. */
static uint64_t mapped_bytes(const struct heap_source *source, remote_addr at, remote_addr hi,
			     uint32_t *out_head_bytes)
{
	uint64_t before, size, whole;

	if (!read_head(source, at, &before, &whole) || before || !whole ||
	    whole % hi_page_bytes() || whole > hi - at)
		return 0;
	*out_head_bytes = GLIBC_CHUNK_TO_BLOCK;
	for (uint64_t alignment = 2 * GLIBC_ALIGNMENT;
	     alignment <= ALIGNMENT_MAX && alignment < whole; alignment *= 2) {
		const remote_addr block =
			(at + GLIBC_CHUNK_TO_BLOCK + alignment - 1) / alignment * alignment;
		const remote_addr chunk = block - GLIBC_CHUNK_TO_BLOCK;

		if (block - at >= whole || chunk == at)
			continue;
		if (read_head(source, chunk, &before, &size) && before == chunk - at &&
		    before + size == whole) {
			*out_head_bytes = (uint32_t)(block - at);
			break;
		}
	}
	return whole;
}

struct mapped_walk {
	const struct heap_source *source;
	const struct glibc_arenas *arenas;
	const struct heap_visitor *visitor;
	uint64_t count; /* found so far */
	uint64_t room;  /* bytes that may still be looked at, page by page */
};

/* Blocks in [*at, hi), one after the other. */
static int walk_run(struct mapped_walk *walk, remote_addr *at, remote_addr hi)
{
	uint32_t head_bytes = 0;
	uint64_t bytes;
	int err = 0;

	while (!err && *at < hi && walk->count < walk->arenas->mapped_count &&
	       (bytes = mapped_bytes(walk->source, *at, hi, &head_bytes))) {
		const struct heap_piece piece = {
			.address = *at + head_bytes,
			.bytes = bytes - head_bytes,
			.head_bytes = head_bytes,
			.kind = HEAP_USED,
		};

		err = heap_visit_whole(walk->visitor, *at, *at + bytes);
		if (!err)
			err = walk->visitor->piece(walk->visitor->context, &piece);
		walk->count++;
		*at += bytes;
	}
	return err;
}

/*
 * The kernel joins adjacent mappings, so that such a block may lie anywhere in one. Most often it
 * is at its begin, or follows another one.
 */
static int walk_mapping(struct mapped_walk *walk, const struct mapping *mapping)
{
	remote_addr at = mapping->lo;
	int err = 0;

	while (!err && at < mapping->hi && walk->count < walk->arenas->mapped_count) {
		const struct glibc_region *region = glibc_arenas_region(walk->arenas, at);
		const remote_addr begin = at;

		if (region) {
			at = (region->hi + hi_page_bytes() - 1) / hi_page_bytes() * hi_page_bytes();
			continue;
		}
		err = walk_run(walk, &at, mapping->hi);
		if (at != begin)
			continue;
		if (walk->room < hi_page_bytes())
			break;
		walk->room -= hi_page_bytes();
		at += hi_page_bytes();
	}
	return err;
}

int glibc_mapped_walk(const struct heap_source *source, const struct glibc_arenas *arenas,
		      const struct heap_visitor *visitor)
{
	const struct maps *maps = source->maps;
	struct mapped_walk walk = {source, arenas, visitor, .room = ROOM_BYTES};
	int err = 0;

	if (arenas->mapped_count == UINT64_MAX)
		return 0;
	for (size_t i = 0; i < maps->count && !err; i++) {
		const struct mapping *mapping = &maps->mapping[i];

		if (mapping->writable && !mapping->shared && !mapping->inode && !*mapping->path)
			err = walk_mapping(&walk, mapping);
	}
	return err;
}
