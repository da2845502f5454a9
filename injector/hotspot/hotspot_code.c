/* SPDX-License-Identifier: MIT */
/* hotspot_code.c - see hotspot_code.h. Start at hotspot_code_read(). */
#include "hotspot_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_BYTES_MAX (2ull << 30) /* HotSpot has no more for all */
#define SEGMENT_BITS_LEAST 4u
#define SEGMENT_BITS_MOST 16u
#define HEAD_MAX 4096u    /* of a block, with the fields of its CodeBlob that are read */
#define BLOBS_AT_ONCE 64u /* heads that are read together */

/* One heap while it is read. */
struct reader {
	const struct hotspot_layout *layout;
	const struct memory *memory;
	struct hotspot_texts *texts;
	const struct hotspot_code *before; /* NULL: everything is read */
	struct hotspot_code *code;
	remote_addr call_stub_return;
	size_t head_size;
	remote_addr segment_map;
	unsigned segment_bits;
	struct memory_piece piece[BLOBS_AT_ONCE];
	size_t place[BLOBS_AT_ONCE]; /* of the pieces' blobs in code->blob */
	size_t piece_count;
	uint8_t *head;
};

/* ---- blobs ----------------------------------------------------------------------------------- */

/* A number of a blob that may be negative: no more than 31 bits of it are one. 0 = it is. */
static uint32_t positive(const struct reader *reader, enum hotspot_field field, const uint8_t *blob)
{
	const uint64_t number = hotspot_number(reader->layout, field, blob);
	const unsigned bits = 8u * reader->layout->field[field].size;

	return number >> (bits - 1) || number > INT32_MAX ? 0 : (uint32_t)number;
}

static enum hotspot_kind kind_of(const struct reader *reader, const struct hotspot_blob *blob)
{
	const char *text = reader->texts->text[blob->text].text;

	if (!strcmp(text, "nmethod") || !strcmp(text, "native nmethod"))
		return HOTSPOT_COMPILED;
	if (!strcmp(text, "Interpreter"))
		return HOTSPOT_INTERPRETER;
	if (blob->lo < reader->call_stub_return && reader->call_stub_return < blob->hi)
		return HOTSPOT_CALL_STUB;
	return HOTSPOT_STUB;
}

/* Where its code is. False: it cannot be there. */
static bool place_code(const struct reader *reader, remote_addr at, const uint8_t *bytes,
		       struct hotspot_blob *blob)
{
	const struct hotspot_layout *layout = reader->layout;
	const uint64_t size = positive(reader, HOTSPOT_BLOB_SIZE, bytes);

	if (hotspot_has(layout, HOTSPOT_BLOB_CODE) && hotspot_has(layout, HOTSPOT_BLOB_CODE_END)) {
		blob->lo = hotspot_number(layout, HOTSPOT_BLOB_CODE, bytes);
		blob->hi = hotspot_number(layout, HOTSPOT_BLOB_CODE_END, bytes);
	} else {
		blob->lo = at + positive(reader, HOTSPOT_BLOB_CODE_OFFSET, bytes);
		blob->hi = at + positive(reader, HOTSPOT_BLOB_DATA_OFFSET, bytes);
	}
	return blob->lo > at && blob->lo < blob->hi && blob->hi - at <= size;
}

/* Makes the blob of a block, if it is whole. 0, or the error of something else than the blob. */
static int make_blob(const struct reader *reader, const struct hotspot_heap *heap,
		     const struct memory_piece *piece, struct hotspot_blob *out_blob)
{
	const struct hotspot_layout *layout = reader->layout;
	const uint8_t *header =
			      (const uint8_t *)piece->into + layout->field[HOTSPOT_BLOCK_HEADER].at,
		      *bytes = (const uint8_t *)piece->into + layout->block_size;
	const uint64_t length = hotspot_number(layout, HOTSPOT_BLOCK_LENGTH, header)
				<< reader->segment_bits;
	struct hotspot_blob blob = {.lo = 0};

	if (!hotspot_number(layout, HOTSPOT_BLOCK_USED, header) ||
	    length > heap->hi - piece->from ||
	    !place_code(reader, piece->from + layout->block_size, bytes, &blob) ||
	    blob.hi - piece->from > length)
		return 0;
	int err = hotspot_text_find(reader->texts, reader->memory,
				    hotspot_number(layout, HOTSPOT_BLOB_NAME, bytes));

	if (err)
		return err == -EFAULT ? 0 : err;
	blob.text = (uint32_t)reader->texts->last;
	blob.kind = kind_of(reader, &blob);
	blob.frame_words = positive(reader, HOTSPOT_BLOB_FRAME, bytes);
	blob.complete = positive(reader, HOTSPOT_BLOB_COMPLETE, bytes);
	if (blob.kind == HOTSPOT_COMPILED && hotspot_has(layout, HOTSPOT_COMPILED_METHOD))
		blob.method = hotspot_number(layout, HOTSPOT_COMPILED_METHOD, bytes);
	if (blob.kind == HOTSPOT_INTERPRETER)
		blob.method_slot = layout->method_slot;
	*out_blob = blob;
	return 0;
}

/* Adds a blob; one whose lo is 0 keeps the place of one that is not read yet. */
static int add_blob(struct hotspot_code *code, struct hotspot_blob blob)
{
	if (code->blob_count == HOTSPOT_BLOBS_MAX)
		return -ENOBUFS;
	if (code->blob_count == code->blob_room) {
		const size_t room = code->blob_room ? 2 * code->blob_room : 1024;
		struct hotspot_blob *grown = realloc(code->blob, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		code->blob = grown;
		code->blob_room = room;
	}
	code->blob[code->blob_count++] = blob;
	return 0;
}

static int read_pieces(struct reader *reader, const struct hotspot_heap *heap)
{
	const size_t count = reader->piece_count;
	int err = memory_read_pieces(reader->memory, reader->piece, count);

	for (size_t i = 0; i < count && !err; i++)
		if (reader->piece[i].is_read)
			err = make_blob(reader, heap, &reader->piece[i],
					&reader->code->blob[reader->place[i]]);
	reader->piece_count = 0;
	return err;
}

/* Has the block's head read, with those of others. */
static int read_block(struct reader *reader, const struct hotspot_heap *heap, remote_addr block)
{
	const size_t i = reader->piece_count;
	const int err = add_blob(reader->code, (struct hotspot_blob){.lo = 0});

	if (err)
		return err;
	reader->place[i] = reader->code->blob_count - 1;
	reader->piece[i] = (struct memory_piece){.from = block,
						 .into = reader->head + i * reader->head_size,
						 .size = reader->head_size};
	return ++reader->piece_count == BLOBS_AT_ONCE ? read_pieces(reader, heap) : 0;
}

static void drop_places(struct hotspot_code *code, size_t first)
{
	size_t kept = first;

	for (size_t i = first; i < code->blob_count; i++)
		if (code->blob[i].lo)
			code->blob[kept++] = code->blob[i];
	code->blob_count = kept;
}

/* Bytes from the beginning of a block to the end of the last field that is read. */
static size_t head_size(const struct hotspot_layout *layout)
{
	uint64_t size = 0;

	for (size_t i = HOTSPOT_BLOB_NAME; i <= HOTSPOT_COMPILED_METHOD; i++)
		if (layout->field[i].is_known && layout->field[i].at + sizeof(uint64_t) > size)
			size = layout->field[i].at + sizeof(uint64_t);
	return layout->block_size + size;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* What was in a heap before, passed in the order of its blocks. */
struct earlier {
	const uint8_t *map; /* NULL = nothing is known */
	size_t segments;
	const struct hotspot_blob *next, *end;
};

static struct earlier earlier_of(const struct hotspot_code *before, const struct hotspot_heap *heap)
{
	struct earlier earlier = {.map = NULL};

	for (size_t i = 0; before && i < before->heap_count; i++) {
		const struct hotspot_heap *there = &before->heap[i];

		if (before->map[i].lo == heap->lo) {
			earlier.map = before->map[i].byte;
			earlier.segments = before->map[i].segments;
		}
		if (there->lo == heap->lo && there->count) {
			earlier.next = before->blob + there->first;
			earlier.end = earlier.next + there->count;
		}
	}
	return earlier;
}

/* The blob that was in the block [lo, hi), if the map has the same for all of it. */
static const struct hotspot_blob *same_blob(struct earlier *earlier, const uint8_t *map,
					    size_t segment, size_t count, remote_addr lo,
					    remote_addr hi)
{
	while (earlier->next != earlier->end && earlier->next->lo < lo)
		earlier->next++;
	const bool is_same = earlier->map && segment + count < earlier->segments &&
			     !memcmp(earlier->map + segment, map + segment, count) &&
			     !earlier->map[segment + count];

	return is_same && earlier->next != earlier->end && earlier->next->hi <= hi ? earlier->next
										   : NULL;
}

static int read_blocks(struct reader *reader, const struct hotspot_heap *heap, const uint8_t *map,
		       size_t segments)
{
	struct earlier earlier = earlier_of(reader->before, heap);
	const uint8_t *at = memchr(map, 0, segments);
	int err = 0;

	while (at && !err) {
		const size_t segment = (size_t)(at - map);
		const uint8_t *next = memchr(at + 1, 0, segments - segment - 1);
		const size_t count = (next ? (size_t)(next - map) : segments) - segment;
		const remote_addr block = heap->lo + ((uint64_t)segment << reader->segment_bits);
		const remote_addr end = block + ((uint64_t)count << reader->segment_bits);

		if (heap->hi - block < reader->head_size)
			break;
		const struct hotspot_blob *same =
			same_blob(&earlier, map, segment, count, block, end);

		err = same ? add_blob(reader->code, *same) : read_block(reader, heap, block);
		at = next;
	}
	return err ? err : read_pieces(reader, heap);
}

static int read_blobs(struct reader *reader, struct hotspot_heap *heap, struct hotspot_map *map)
{
	const size_t segments = (heap->hi - heap->lo) >> reader->segment_bits;
	uint8_t *byte = realloc(map->byte, segments + 1);

	if (!byte)
		return -ENOMEM;
	*map = (struct hotspot_map){.lo = heap->lo, .byte = byte, .segments = segments};
	int err = memory_read_much(reader->memory, reader->segment_map, byte, segments);

	heap->first = reader->code->blob_count;
	reader->piece_count = 0;
	if (!err)
		err = read_blocks(reader, heap, byte, segments);
	drop_places(reader->code, heap->first);
	heap->count = reader->code->blob_count - heap->first;
	return err;
}

/* ---- heaps ----------------------------------------------------------------------------------- */

static int compare_heaps(const void *left, const void *right)
{
	const struct hotspot_heap *a = left, *b = right;

	return (a->lo > b->lo) - (a->lo < b->lo);
}

/* The addresses of the CodeHeaps. */
static int list_heaps(const struct hotspot_layout *layout, const struct memory *memory,
		      remote_addr heaps[HOTSPOT_HEAPS_MAX], size_t *out_count)
{
	uint64_t array, length, data;
	int err;

	*out_count = 1;
	if (!hotspot_has(layout, HOTSPOT_HEAPS))
		return memory_read_u64(memory, layout->field[HOTSPOT_ONE_HEAP].at, &heaps[0]);
	err = memory_read_u64(memory, layout->field[HOTSPOT_HEAPS].at, &array);
	if (!err)
		err = hotspot_read(layout, memory, array, HOTSPOT_ARRAY_LENGTH, &length);
	if (!err)
		err = hotspot_read(layout, memory, array, HOTSPOT_ARRAY_DATA, &data);
	if (!err && (!length || length > HOTSPOT_HEAPS_MAX))
		err = -EPROTO;
	if (!err)
		err = memory_read(memory, data, heaps, length * sizeof(*heaps));
	if (!err)
		*out_count = length;
	return err;
}

static int heap_read(const struct hotspot_layout *layout, const struct memory *memory,
		     remote_addr at, struct hotspot_heap *heap)
{
	const remote_addr space = at + layout->field[HOTSPOT_HEAP_MEMORY].at;
	int err = hotspot_read(layout, memory, space, HOTSPOT_SPACE_LOW, &heap->lo);

	if (!err)
		err = hotspot_read(layout, memory, space, HOTSPOT_SPACE_HIGH, &heap->hi);
	if (!err)
		err = hotspot_read(layout, memory, space, HOTSPOT_SPACE_END, &heap->end);
	return !err && (heap->lo > heap->hi || heap->hi > heap->end ||
			heap->end - heap->lo > HEAP_BYTES_MAX)
		       ? -EPROTO
		       : err;
}

int hotspot_heaps_read(const struct hotspot_layout *layout, const struct memory *memory,
		       struct hotspot_code *out_code)
{
	struct hotspot_code code = {.heap_count = 0};
	remote_addr heaps[HOTSPOT_HEAPS_MAX];
	size_t count;
	int err = list_heaps(layout, memory, heaps, &count);

	for (size_t i = 0; i < count && !err; i++)
		err = heap_read(layout, memory, heaps[i], &code.heap[code.heap_count++]);
	if (!err)
		*out_code = code;
	return err;
}

static bool do_overlap(const struct hotspot_code *code)
{
	for (size_t i = 1; i < code->heap_count; i++)
		if (code->heap[i].lo < code->heap[i - 1].end)
			return true;
	return false;
}

static int read_heap(struct reader *reader, remote_addr at)
{
	const struct hotspot_layout *layout = reader->layout;
	struct hotspot_heap *heap = &reader->code->heap[reader->code->heap_count];
	uint64_t bits;
	int err = heap_read(layout, reader->memory, at, heap);

	if (!err)
		err = hotspot_read(layout, reader->memory, at, HOTSPOT_SEGMENT_BITS, &bits);
	if (!err && (bits < SEGMENT_BITS_LEAST || bits > SEGMENT_BITS_MOST))
		err = -EPROTO;
	if (!err)
		err = hotspot_read(layout, reader->memory,
				   at + layout->field[HOTSPOT_HEAP_SEGMENTS].at, HOTSPOT_SPACE_LOW,
				   &reader->segment_map);
	if (err)
		return err;
	reader->segment_bits = (unsigned)bits;
	return read_blobs(reader, heap, &reader->code->map[reader->code->heap_count++]);
}

static int read_all(struct reader *reader)
{
	remote_addr heaps[HOTSPOT_HEAPS_MAX];
	size_t count;
	int err = list_heaps(reader->layout, reader->memory, heaps, &count);

	if (!err)
		err = memory_read_u64(reader->memory,
				      reader->layout->field[HOTSPOT_CALL_STUB_RETURN].at,
				      &reader->call_stub_return);
	reader->code->heap_count = reader->code->blob_count = 0;
	for (size_t i = 0; i < count && !err; i++)
		err = read_heap(reader, heaps[i]);
	if (err)
		return err;
	qsort(reader->code->heap, reader->code->heap_count, sizeof(*reader->code->heap),
	      compare_heaps);
	return do_overlap(reader->code) ? -EPROTO : 0;
}

int hotspot_code_read(const struct hotspot_layout *layout, const struct memory *memory,
		      struct hotspot_texts *texts, const struct hotspot_code *before,
		      struct hotspot_code *code)
{
	struct reader reader = {.layout = layout,
				.memory = memory,
				.texts = texts,
				.before = before,
				.code = code,
				.head_size = head_size(layout)};
	int err = reader.head_size > HEAD_MAX ? -EPROTO : 0;

	reader.head = err ? NULL : malloc(BLOBS_AT_ONCE * reader.head_size);
	if (!err && !reader.head)
		err = -ENOMEM;
	if (!err)
		err = read_all(&reader);
	free(reader.head);
	if (err)
		hotspot_code_close(code);
	return err;
}

void hotspot_code_close(struct hotspot_code *code)
{
	for (size_t i = 0; i < HOTSPOT_HEAPS_MAX; i++)
		free(code->map[i].byte);
	free(code->blob);
	*code = (struct hotspot_code){0};
}
