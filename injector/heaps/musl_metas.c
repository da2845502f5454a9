/* SPDX-License-Identifier: MIT */
/*
 * musl_metas.c - see musl_metas.h. The layouts are those of struct malloc_context, meta_area and
 * meta in src/malloc/mallocng/meta.h of musl.
 */
#include "musl_metas.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap_bytes.h"
#include "image_data.h"
#include "steps.h"

#define WORD 8u

/* struct malloc_context */
#define CONTEXT_SECRET 0u
#define CONTEXT_IS_INITIALIZED 8u
#define CONTEXT_UNUSED 24u
#define CONTEXT_UNUSED_COUNT 32u
#define CONTEXT_AREA_HEAD 56u
#define CONTEXT_AREA_TAIL 64u
#define CONTEXT_BYTES 928u

/* struct meta_area */
#define AREA_SECRET 0u
#define AREA_NEXT 8u
#define AREA_COUNT 16u

/* struct meta */
#define META_MEM 16u
#define META_AVAILABLE 24u
#define META_FREED 28u
#define META_BITS 32u

/* lists of free chunks of the malloc before mallocng, as if each was in a chunk itself */
#define OLD_LIST_TO_CHUNK 16u
#define OLD_CHUNK_NEXT 16u
#define OLD_CHUNK_PREVIOUS 24u
#define OLD_LISTS_MIN 2u
#define OLD_TRIES_MAX 4096u

#define AREAS_MAX 65536u

/* Sizes of slots, in units. */
static const uint16_t class_units[MUSL_CLASSES] = {
	1,   2,   3,   4,    5,    6,    7,    8,    9,    10,   12,   15,   18,   20,   25,   31,
	36,  42,  50,  63,   72,   84,   102,  127,  146,  170,  204,  255,  292,  340,  409,  511,
	584, 682, 818, 1023, 1169, 1364, 1637, 2047, 2340, 2730, 3276, 4095, 4680, 5460, 6552, 8191,
};

uint64_t musl_stride(const struct musl_meta *meta)
{
	return !meta->last && meta->mapped_bytes
		       ? meta->mapped_bytes - MUSL_UNIT
		       : (uint64_t)class_units[meta->size_class] * MUSL_UNIT;
}

uint64_t musl_group_bytes(const struct musl_meta *meta)
{
	return MUSL_GROUP_HEAD_BYTES + musl_stride(meta) * (meta->last + 1u);
}

static uint64_t word_at(const uint8_t *byte)
{
	uint64_t word;

	memcpy(&word, byte, sizeof(word));
	return word;
}

static uint32_t half_at(const uint8_t *byte)
{
	uint32_t half;

	memcpy(&half, byte, sizeof(half));
	return half;
}

/* ---- metas ----------------------------------------------------------------------------------- */

/* Does the meta agree with itself? end: of all memory. */
static bool is_possible(const struct musl_meta *meta, remote_addr end)
{
	const uint64_t all = (2ull << meta->last) - 1;

	if (!meta->mem || meta->mem % MUSL_UNIT || (meta->available & meta->freed) ||
	    ((meta->available | meta->freed) & ~all) || meta->mem >= end ||
	    meta->mapped_bytes > end - meta->mem)
		return false;
	if (meta->size_class == MUSL_CLASS_MAPPED)
		return !meta->last && meta->mapped_bytes && !meta->available && !meta->freed;
	return meta->size_class < MUSL_CLASSES &&
	       (!meta->mapped_bytes || musl_group_bytes(meta) <= meta->mapped_bytes);
}

/* False: it is of no group. */
static bool parse_meta(const struct heap_source *source, const uint8_t *byte, remote_addr at,
		       struct musl_meta *out_meta)
{
	const uint64_t bits = word_at(byte + META_BITS);

	*out_meta = (struct musl_meta){
		.at = at,
		.mem = word_at(byte + META_MEM),
		.available = half_at(byte + META_AVAILABLE),
		.freed = half_at(byte + META_FREED),
		.last = bits & 31,
		.is_freeable = bits >> 5 & 1,
		.size_class = bits >> 6 & 63,
		.mapped_bytes = (bits >> 12) * MUSL_AREA_BYTES,
	};
	return is_possible(out_meta, maps_end(source->maps));
}

static int add_meta(struct musl_metas *metas, const struct musl_meta *meta)
{
	if (metas->count == metas->room) {
		const size_t room = metas->room ? 2 * metas->room : 1024;
		struct musl_meta *grown = realloc(metas->meta, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		metas->meta = grown;
		metas->room = room;
	}
	metas->meta[metas->count++] = *meta;
	return 0;
}

static int add_metas(const struct heap_source *source, struct musl_metas *metas,
		     const uint8_t *area, remote_addr at)
{
	int err = 0;

	for (unsigned i = 0; i < MUSL_AREA_METAS && !err; i++) {
		const unsigned offset = MUSL_AREA_HEAD_BYTES + i * MUSL_META_BYTES;
		struct musl_meta meta;

		if (parse_meta(source, area + offset, at + offset, &meta))
			err = add_meta(metas, &meta);
	}
	return err;
}

static bool is_area(const struct musl_metas *metas, const uint8_t *byte)
{
	return word_at(byte + AREA_SECRET) == metas->secret &&
	       half_at(byte + AREA_COUNT) == MUSL_AREA_METAS;
}

int musl_meta_read(const struct heap_source *source, const struct musl_metas *metas, remote_addr at,
		   struct musl_meta *out_meta)
{
	const remote_addr area = at & -(remote_addr)MUSL_AREA_BYTES;
	uint8_t byte[MUSL_AREA_BYTES];
	struct heap_bytes bytes = {.byte = byte, .room = sizeof(byte)};
	struct musl_meta meta;
	int err;

	if (at - area < MUSL_AREA_HEAD_BYTES ||
	    (at - area - MUSL_AREA_HEAD_BYTES) % MUSL_META_BYTES)
		return -ENODATA;
	err = heap_bytes_read(&bytes, source, area, sizeof(byte));
	if (err)
		return err;
	if (!heap_bytes_has(&bytes, area, sizeof(byte)) || !is_area(metas, byte) ||
	    !parse_meta(source, byte + (at - area), at, &meta))
		return -ENODATA;
	*out_meta = meta;
	return 0;
}

const struct musl_meta *musl_metas_at(const struct musl_metas *metas, remote_addr at)
{
	size_t low = 0, high = metas->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (metas->meta[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < metas->count && metas->meta[low].at == at ? &metas->meta[low] : NULL;
}

static int compare_metas(const void *a, const void *b)
{
	const struct musl_meta *left = a, *right = b;

	return left->at < right->at ? -1 : left->at > right->at;
}

/* ---- areas ----------------------------------------------------------------------------------- */

static int add_area(struct musl_metas *metas, remote_addr area)
{
	if (metas->area_count == metas->area_room) {
		const size_t room = metas->area_room ? 2 * metas->area_room : 16;
		remote_addr *grown = realloc(metas->area, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		metas->area = grown;
		metas->area_room = room;
	}
	metas->area[metas->area_count++] = area;
	return 0;
}

static int refuse(char *refusal, const char *what, remote_addr at)
{
	snprintf(refusal, HEAP_TEXT_MAX, "%s at 0x%llx", what, (unsigned long long)at);
	return -EPROTO;
}

/* The list may have become longer since the context was read. */
static int read_areas(const struct heap_source *source, struct musl_metas *metas, char *refusal)
{
	struct steps steps = {AREAS_MAX};
	struct heap_bytes bytes = {0};
	remote_addr at = metas->area_head;
	bool has_tail = false;
	int err = 0;

	while (at && !err && steps_take(&steps)) {
		err = heap_bytes_read(&bytes, source, at, MUSL_AREA_BYTES);
		if (err)
			break;
		if (!heap_bytes_has(&bytes, at, MUSL_AREA_BYTES))
			err = refuse(refusal, "metas that are swapped out", at);
		else if (at % MUSL_AREA_BYTES || !is_area(metas, bytes.byte))
			err = refuse(refusal, "no area of metas", at);
		if (!err)
			err = add_area(metas, at);
		if (!err)
			err = add_metas(source, metas, bytes.byte, at);
		has_tail |= at == metas->area_tail;
		at = err ? 0 : word_at(bytes.byte + AREA_NEXT);
	}
	heap_bytes_close(&bytes);
	if (!err && (!has_tail || at))
		err = refuse(refusal, "a list of metas without an end", metas->area_head);
	if (metas->count)
		qsort(metas->meta, metas->count, sizeof(*metas->meta), compare_metas);
	return err;
}

/* ---- the context ----------------------------------------------------------------------------- */

/* Do these bytes look like a context, by themselves? */
static bool is_context(const uint8_t *byte)
{
	const uint64_t head = word_at(byte + CONTEXT_AREA_HEAD);
	const uint64_t tail = word_at(byte + CONTEXT_AREA_TAIL);
	const uint64_t unused = word_at(byte + CONTEXT_UNUSED_COUNT);

	return half_at(byte + CONTEXT_IS_INITIALIZED) == 1 && head && tail &&
	       head % MUSL_AREA_BYTES == 0 && tail % MUSL_AREA_BYTES == 0 &&
	       unused <= MUSL_AREA_METAS &&
	       word_at(byte + CONTEXT_UNUSED) ==
		       tail + MUSL_AREA_HEAD_BYTES + (MUSL_AREA_METAS - unused) * MUSL_META_BYTES;
}

/* Does the first area belong to the context? */
static bool has_area(const struct heap_source *source, const uint8_t *byte)
{
	uint64_t check;

	return !heap_word(source, word_at(byte + CONTEXT_AREA_HEAD) + AREA_SECRET, &check) &&
	       check == word_at(byte + CONTEXT_SECRET);
}

static int find_in(const struct heap_source *source, const struct heap_bytes *data,
		   struct musl_metas *out_metas, char *out_refusal)
{
	for (remote_addr at = data->lo; heap_bytes_has(data, at, CONTEXT_BYTES); at += WORD) {
		const uint8_t *byte = data->byte + (at - data->lo);

		if (!is_context(byte) || !has_area(source, byte))
			continue;
		out_metas->secret = word_at(byte + CONTEXT_SECRET);
		out_metas->area_head = word_at(byte + CONTEXT_AREA_HEAD);
		out_metas->area_tail = word_at(byte + CONTEXT_AREA_TAIL);
		return read_areas(source, out_metas, out_refusal);
	}
	return -ENOENT;
}

static bool refers_to(const struct heap_source *source, remote_addr at, remote_addr to)
{
	const struct mapping *mapping = maps_find(source->maps, at);
	uint64_t word;

	return mapping && mapping->writable && !heap_word(source, at, &word) && word == to;
}

/* Has it lists of the malloc that musl had before? First and last refer back to the list. */
static bool has_old_lists(const struct heap_source *source, const struct heap_bytes *data)
{
	struct steps steps = {OLD_TRIES_MAX};
	unsigned lists = 0;

	for (remote_addr at = data->lo; heap_bytes_has(data, at, 2 * WORD); at += WORD) {
		const remote_addr first = heap_bytes_word(data, at);
		const remote_addr last = heap_bytes_word(data, at + WORD);

		if (!first || !last || first % MUSL_UNIT || last % MUSL_UNIT)
			continue;
		if (!steps_take(&steps))
			break;
		lists += refers_to(source, first + OLD_CHUNK_PREVIOUS, at - OLD_LIST_TO_CHUNK) &&
			 refers_to(source, last + OLD_CHUNK_NEXT, at - OLD_LIST_TO_CHUNK);
	}
	return lists >= OLD_LISTS_MIN;
}

/* Without a context: was there anything to allocate? */
static int refuse_other(const struct heap_source *source, bool is_old, char *refusal)
{
	if (is_old) {
		snprintf(refusal, HEAP_TEXT_MAX, "the malloc of musl before 1.2.1 is not known");
		return -EPROTO;
	}
	for (size_t i = 0; i < source->maps->count; i++)
		if (strcmp(source->maps->mapping[i].path, "[heap]") == 0) {
			snprintf(refusal, HEAP_TEXT_MAX,
				 "its context was not found: the program may have been linked "
				 "without free");
			return -EPROTO;
		}
	return -ENOENT;
}

int musl_metas_find(const struct heap_source *source, const struct elf_image *image,
		    struct musl_metas *out_metas, char out_refusal[HEAP_TEXT_MAX])
{
	struct image_data data = {0};
	bool is_old = false;
	int err = image->elf ? image_data_read(&data, source, image) : 0;

	*out_metas = (struct musl_metas){0};
	if (!err)
		err = -ENOENT;
	for (size_t i = 0; i < data.count && err == -ENOENT; i++) {
		err = find_in(source, &data.segment[i], out_metas, out_refusal);
		is_old |= err == -ENOENT && has_old_lists(source, &data.segment[i]);
	}
	image_data_close(&data);
	return err == -ENOENT ? refuse_other(source, is_old, out_refusal) : err;
}

void musl_metas_close(struct musl_metas *metas)
{
	free(metas->area);
	free(metas->meta);
	*metas = (struct musl_metas){0};
}
