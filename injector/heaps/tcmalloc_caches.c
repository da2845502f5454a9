/* SPDX-License-Identifier: MIT */
/* tcmalloc_caches.c - see tcmalloc_caches.h. The layout is that of class ThreadCache. */
#include "tcmalloc_caches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "steps.h"

/* ThreadCache::FreeList */
#define LIST_BYTES 32u
#define LIST_LENGTH 8u
#define LIST_OBJECT_BYTES 24u
#define LISTS_BYTES (TCMALLOC_CLASSES_MAX * LIST_BYTES)

/* Where the links to the next cache and the one before may be. */
#define LINKS_LO (LISTS_BYTES + 8u)
#define LINKS_HI (LISTS_BYTES + 256u)
#define CACHE_BYTES (LISTS_BYTES + 128u)
#define CACHES_MAX 16384u

#define CHAIN_MAX (1u << 20)
#define TRIES 4u
#define STEPS_MAX (256u << 20)

struct marker {
	struct heap_slabs *slabs;
	struct heap_windows *windows;
	const struct tcmalloc_layout *layout;
	uint64_t *chain; /* numbers of objects */
	size_t length;
	remote_addr last;   /* object of the chain */
	bool is_whole;      /* the chain ended as it should */
	remote_addr *cache; /* of threads, those that were marked */
	size_t count;
	unsigned links; /* where a cache has links to others; 0: not known */
	struct steps steps;
};

/* ---- chains ---------------------------------------------------------------------------------- */

/* Reads one, no further than `most` objects. 0, or an error of the memory. */
static int read_chain(struct marker *marker, remote_addr at, unsigned size_class, size_t most)
{
	marker->length = 0;
	marker->is_whole = false;
	while (at && marker->length < most && steps_take(&marker->steps)) {
		const uint64_t object = heap_slabs_block(marker->slabs, at, size_class);
		uint64_t next;
		int err;

		if (object == HEAP_NO_BLOCK)
			return 0;
		err = heap_windows_word(marker->windows, at, &next);
		if (err)
			return err == -ENODATA ? 0 : err;
		marker->chain[marker->length++] = object;
		marker->last = at;
		at = next;
	}
	marker->is_whole = !at;
	return 0;
}

static void mark_chain(struct marker *marker, enum heap_mark mark)
{
	for (size_t i = 0; i < marker->length; i++)
		heap_slabs_mark(marker->slabs, marker->chain[i], mark);
}

/* ---- transfer caches ------------------------------------------------------------------------- */

static int mark_slot(struct marker *marker, remote_addr slot, unsigned size_class)
{
	remote_addr ends[2] = {0};
	int err = 0;

	for (unsigned i = 0; i < TRIES && !err; i++) {
		err = heap_windows_read(marker->windows, slot, ends, sizeof(ends));
		if (!err)
			err = read_chain(marker, ends[0], size_class, CHAIN_MAX);
		if (err || (marker->is_whole && marker->length && marker->last == ends[1]))
			break;
		marker->slabs->reread++;
		heap_windows_drop(marker->windows);
		marker->length = 0; /* it has gone to a thread */
	}
	if (err)
		return err == -ENODATA ? 0 : err;
	mark_chain(marker, HEAP_MARK_CACHED);
	return 0;
}

static int mark_transfer_caches(struct marker *marker)
{
	const struct tcmalloc_layout *layout = marker->layout;
	int err = 0;

	for (unsigned i = 1; i < layout->class_count && !err; i++) {
		const remote_addr list = layout->central + i * TCMALLOC_CENTRAL_BYTES;
		uint32_t used = 0;

		err = heap_windows_read(marker->windows, list + TCMALLOC_CENTRAL_SLOTS_USED, &used,
					sizeof(used));
		for (unsigned slot = 0; slot < used && slot < TCMALLOC_SLOTS_MAX && !err; slot++)
			err = mark_slot(marker,
					list + TCMALLOC_CENTRAL_SLOTS + slot * TCMALLOC_SLOT_BYTES,
					i);
	}
	return err == -ENODATA ? 0 : err;
}

/* ---- caches of threads ----------------------------------------------------------------------- */

static int mark_list(struct marker *marker, remote_addr list, unsigned size_class)
{
	struct {
		remote_addr first;
		uint32_t length;
	} head = {0};
	int err = clock_now_ns() >= marker->windows->source->deadline_ns ? -ETIMEDOUT : 0;

	for (unsigned i = 0; i < TRIES && !err; i++) {
		err = heap_windows_read(marker->windows, list, &head, LIST_LENGTH + 4);
		if (!err)
			err = read_chain(marker, head.first, size_class,
					 head.length < CHAIN_MAX ? head.length : CHAIN_MAX);
		if (err || (marker->is_whole && marker->length == head.length))
			break;
		marker->slabs->reread++;
		heap_windows_drop(marker->windows);
	}
	if (err)
		return err == -ENODATA ? 0 : err;
	mark_chain(marker, marker->is_whole && marker->length == head.length ? HEAP_MARK_CACHED
									     : HEAP_MARK_UNSURE);
	return 0;
}

/* Every list has the size of its objects. */
static int is_cache(struct marker *marker, remote_addr at)
{
	const struct tcmalloc_layout *layout = marker->layout;
	uint8_t byte[LISTS_BYTES];
	uint32_t size;
	/* most are none: a look at one list before all are copied */
	int err = at % HEAP_WORD
			  ? -ENODATA
			  : heap_windows_read(marker->windows, at + LIST_BYTES + LIST_OBJECT_BYTES,
					      &size, sizeof(size));

	if (err || size != layout->size[1])
		return err == -ENODATA ? 0 : err;
	err = heap_windows_read(marker->windows, at, byte, sizeof(byte));
	if (err)
		return err == -ENODATA ? 0 : err;
	for (unsigned i = 0; i < layout->class_count; i++) {
		memcpy(&size, byte + i * LIST_BYTES + LIST_OBJECT_BYTES, sizeof(size));
		if (size != layout->size[i])
			return 0;
	}
	return 1;
}

static int links_of(struct marker *marker, remote_addr cache, unsigned offset, uint64_t link[2])
{
	const int err = heap_windows_read(marker->windows, cache + offset, link, 16);

	return err == -ENODATA ? -EPROTO : err;
}

/* Where a cache has the links to others. 0: not found, it is the only one. */
static int find_links(struct marker *marker, remote_addr cache, unsigned *out_offset)
{
	int err = 0;

	for (unsigned offset = LINKS_LO; offset < LINKS_HI && !err; offset += HEAP_WORD) {
		uint64_t link[2], back[2] = {0};

		err = links_of(marker, cache, offset, link);
		for (unsigned i = 0; i < 2 && !err; i++) {
			if (!link[i] || link[i] == cache || is_cache(marker, link[i]) <= 0)
				continue;
			err = links_of(marker, link[i], offset, back);
			if (!err && back[!i] == cache) {
				*out_offset = offset;
				return 0;
			}
		}
	}
	return err;
}

static bool is_known(const struct marker *marker, remote_addr cache)
{
	for (size_t i = 0; i < marker->count; i++)
		if (marker->cache[i] == cache)
			return true;
	return false;
}

static int mark_cache(struct marker *marker, remote_addr cache)
{
	int err = heap_slabs_add_own(marker->slabs, cache, cache + CACHE_BYTES);

	marker->cache[marker->count++] = cache;
	for (unsigned i = 1; i < marker->layout->class_count && !err; i++)
		err = mark_list(marker, cache + i * LIST_BYTES, i);
	return err;
}

/* From a cache on in one direction: 0 forward, 1 back. A cache that is removed has no links. */
static int mark_caches_from(struct marker *marker, remote_addr cache, unsigned direction)
{
	int err = 0;

	while (!err) {
		uint64_t link[2];

		err = links_of(marker, cache, marker->links, link);
		cache = err ? 0 : link[direction];
		if (!cache || is_known(marker, cache) || marker->count == CACHES_MAX ||
		    is_cache(marker, cache) <= 0)
			break;
		err = mark_cache(marker, cache);
	}
	return err == -EPROTO ? 0 : err;
}

/*
 * A variable may lead to this cache. Variables also lead to caches of threads that have ended:
 * these are empty, and no other cache leads to them.
 */
static int try_cache(struct marker *marker, remote_addr cache)
{
	int err = is_known(marker, cache) || marker->count == CACHES_MAX ? 0
									 : is_cache(marker, cache);

	if (err <= 0)
		return err;
	err = mark_cache(marker, cache);
	if (!err && !marker->links)
		err = find_links(marker, cache, &marker->links);
	for (unsigned direction = 0; direction < 2 && !err && marker->links; direction++)
		err = mark_caches_from(marker, cache, direction);
	return err;
}

static int mark_thread_caches(struct marker *marker, const struct image_data *data)
{
	const struct maps *maps = marker->windows->source->maps;
	int err = 0;

	for (size_t i = 0; i < data->count && !err; i++) {
		const struct heap_bytes *bytes = &data->segment[i];

		for (remote_addr at = bytes->lo; !err && heap_bytes_has(bytes, at, HEAP_WORD);
		     at += HEAP_WORD) {
			const uint64_t word = heap_bytes_word(bytes, at);

			if (word >= LISTS_BYTES && word % HEAP_WORD == 0 &&
			    !heap_slabs_find(marker->slabs, word) && maps_find(maps, word))
				err = try_cache(marker, word);
		}
	}
	return err ? err : marker->count ? 0 : -EPROTO;
}

int tcmalloc_caches_mark(struct heap_slabs *slabs, struct heap_windows *windows,
			 const struct tcmalloc_layout *layout, const struct image_data *data)
{
	struct marker marker = {
		.slabs = slabs,
		.windows = windows,
		.layout = layout,
		.chain = malloc(CHAIN_MAX * sizeof(*marker.chain)),
		.cache = malloc(CACHES_MAX * sizeof(*marker.cache)),
		.steps = {STEPS_MAX},
	};
	int err = marker.chain && marker.cache ? 0 : -ENOMEM;

	heap_windows_drop(windows);
	if (!err)
		err = mark_transfer_caches(&marker);
	if (!err)
		err = mark_thread_caches(&marker, data);
	free(marker.cache);
	free(marker.chain);
	return err;
}
