/* SPDX-License-Identifier: MIT */
/*
 * hotspot_scene.h - code heaps as a JVM has them, in this process's own memory, with a layout that
 * no JVM has.
 */
#ifndef HOTSPOT_SCENE_H
#define HOTSPOT_SCENE_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hotspot_code.h"
#include "unit.h"

#define SEGMENT 128u
#define SEGMENTS 64u

struct scene_space {
	uint64_t low, high, end;
};
struct scene_block {
	uint64_t length;
	uint8_t used;
	uint8_t reserved[7];
	/* the CodeBlob */
	uint64_t name, code, code_end, method;
	int32_t size, frame, complete, padding;
};
struct scene {
	struct memory memory;
	struct hotspot_layout layout;
	struct hotspot_texts texts;
	struct hotspot_code code;
	uint64_t array, array_data[2], call_stub_return;
	struct {
		uint32_t length, padding;
		uint64_t data;
	} list;
	struct {
		struct scene_space memory, segments;
		uint64_t bits;
	} heap;
	uint8_t map[SEGMENTS];
	uint8_t *bytes;
};

static inline void scene_field(struct scene *scene, enum hotspot_field field, uint64_t at,
			       uint8_t size)
{
	scene->layout.field[field].at = at;
	scene->layout.field[field].size = size;
	scene->layout.field[field].is_known = true;
}

static inline void scene_open(struct scene *scene)
{
	const size_t blob = offsetof(struct scene_block, name);

	memset(scene, 0, sizeof(*scene));
	CHECK_EQ(memory_open_to_read(&scene->memory, getpid(), getpid()), 0);
	scene->bytes = aligned_alloc(SEGMENT, (size_t)SEGMENTS * SEGMENT);
	CHECK(scene->bytes);
	memset(scene->bytes, 0, (size_t)SEGMENTS * SEGMENT);
	memset(scene->map, 0xff, sizeof(scene->map));
	scene->heap.memory.low = (uintptr_t)scene->bytes;
	scene->heap.memory.high = scene->heap.memory.low + SEGMENTS * SEGMENT;
	scene->heap.memory.end = scene->heap.memory.high;
	scene->heap.segments.low = (uintptr_t)scene->map;
	scene->heap.bits = 7;
	scene->array_data[0] = (uintptr_t)&scene->heap;
	scene->list.length = 1;
	scene->list.data = (uintptr_t)scene->array_data;
	scene->array = (uintptr_t)&scene->list;
	scene_field(scene, HOTSPOT_HEAPS, (uintptr_t)&scene->array, 8);
	scene_field(scene, HOTSPOT_ARRAY_LENGTH, 0, 4);
	scene_field(scene, HOTSPOT_ARRAY_DATA, 8, 8);
	scene_field(scene, HOTSPOT_HEAP_MEMORY, 0, 8);
	scene_field(scene, HOTSPOT_HEAP_SEGMENTS, sizeof(struct scene_space), 8);
	scene_field(scene, HOTSPOT_SEGMENT_BITS, 2 * sizeof(struct scene_space), 4);
	scene_field(scene, HOTSPOT_SPACE_LOW, 0, 8);
	scene_field(scene, HOTSPOT_SPACE_HIGH, 8, 8);
	scene_field(scene, HOTSPOT_SPACE_END, 16, 8);
	scene_field(scene, HOTSPOT_BLOCK_HEADER, 0, 8);
	scene_field(scene, HOTSPOT_BLOCK_LENGTH, 0, 8);
	scene_field(scene, HOTSPOT_BLOCK_USED, 8, 1);
	scene_field(scene, HOTSPOT_CALL_STUB_RETURN, (uintptr_t)&scene->call_stub_return, 8);
	scene_field(scene, HOTSPOT_BLOB_NAME, 0, 8);
	scene_field(scene, HOTSPOT_BLOB_CODE, offsetof(struct scene_block, code) - blob, 8);
	scene_field(scene, HOTSPOT_BLOB_CODE_END, offsetof(struct scene_block, code_end) - blob, 8);
	scene_field(scene, HOTSPOT_COMPILED_METHOD, offsetof(struct scene_block, method) - blob, 8);
	scene_field(scene, HOTSPOT_BLOB_SIZE, offsetof(struct scene_block, size) - blob, 4);
	scene_field(scene, HOTSPOT_BLOB_FRAME, offsetof(struct scene_block, frame) - blob, 4);
	scene_field(scene, HOTSPOT_BLOB_COMPLETE, offsetof(struct scene_block, complete) - blob, 4);
	scene->layout.block_size = blob;
	scene->layout.sender_sp = -1;
	scene->layout.method_slot = -3;
}

static inline void scene_close(struct scene *scene)
{
	hotspot_code_close(&scene->code);
	hotspot_texts_close(&scene->texts);
	memory_close(&scene->memory);
	free(scene->bytes);
}

/* A block of `count` segments with code from 128 bytes after its beginning to its end. */
static inline struct scene_block *scene_blob(struct scene *scene, size_t segment, size_t count,
					     const char *name, int32_t frame)
{
	struct scene_block *block = (void *)(scene->bytes + segment * SEGMENT);

	scene->map[segment] = 0;
	for (size_t i = 1; i < count; i++)
		scene->map[segment + i] = (uint8_t)i;
	*block = (struct scene_block){.length = count,
				      .used = 1,
				      .name = (uintptr_t)name,
				      .code = (uintptr_t)block + SEGMENT,
				      .code_end = (uintptr_t)block + count * SEGMENT,
				      .frame = frame,
				      .complete = 16};
	block->size = (int32_t)(count * SEGMENT - offsetof(struct scene_block, name));
	return block;
}

static inline int scene_read(struct scene *scene)
{
	return hotspot_code_read(&scene->layout, &scene->memory, &scene->texts, NULL, &scene->code);
}

#endif
