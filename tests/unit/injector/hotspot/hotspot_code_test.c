/* SPDX-License-Identifier: MIT */
/* hotspot_code_test.c - the code of an invented JVM: found, told apart, and refused if damaged. */
#include <errno.h>

#include "hotspot_rows.h"
#include "hotspot_scene.h"

UNIT_TEST(blobs_are_found_with_their_frames)
{
	struct scene scene;

	scene_open(&scene);
	scene_blob(&scene, 0, 3, "Interpreter", 0);
	struct scene_block *compiled = scene_blob(&scene, 3, 2, "nmethod", 6);
	struct scene_block *stub = scene_blob(&scene, 8, 2, "StubRoutines (1)", 0);
	compiled->method = 0x1234;
	scene.call_stub_return = stub->code + 8;
	CHECK_EQ(scene_read(&scene), 0);
	CHECK_EQ(scene.code.heap_count, 1);
	CHECK_EQ(scene.code.blob_count, 3);
	CHECK_EQ(scene.code.blob[0].kind, HOTSPOT_INTERPRETER);
	CHECK_EQ(scene.code.blob[1].kind, HOTSPOT_COMPILED);
	CHECK_EQ(scene.code.blob[1].lo, compiled->code);
	CHECK_EQ(scene.code.blob[1].hi, compiled->code_end);
	CHECK_EQ(scene.code.blob[1].method, 0x1234);
	CHECK_EQ(scene.code.blob[1].frame_words, 6);
	CHECK_EQ(scene.code.blob[2].kind, HOTSPOT_CALL_STUB);
	CHECK(!strcmp(scene.texts.text[scene.code.blob[2].text].text, "StubRoutines (1)"));
	scene_close(&scene);
}

/* A block that is free, or half made, says things that cannot be. */
UNIT_TEST(what_contradicts_itself_is_left_out)
{
	struct scene scene;

	scene_open(&scene);
	scene_blob(&scene, 0, 2, "nmethod", 6)->used = 0;
	scene_blob(&scene, 2, 2, "nmethod", 6)->length = SEGMENTS;
	scene_blob(&scene, 4, 2, "nmethod", 6)->code_end += SEGMENT;
	scene_blob(&scene, 6, 2, "nmethod", 6)->code = 64;
	scene_blob(&scene, 8, 2, "nmethod", 6)->size = -1;
	scene_blob(&scene, 10, 2, "nmethod", 6)->name = 8;
	scene_blob(&scene, 12, 2, "nmethod", 6);
	CHECK_EQ(scene_read(&scene), 0);
	CHECK_EQ(scene.code.blob_count, 1);
	CHECK_EQ(scene.code.blob[0].lo, (uintptr_t)scene.bytes + 13 * SEGMENT);
	scene_close(&scene);
}

/* Where the segments are as before, nothing is read; all else is. */
UNIT_TEST(only_what_is_new_is_read_again)
{
	struct scene scene;
	struct hotspot_code now = {.heap_count = 0};

	scene_open(&scene);
	struct scene_block *kept = scene_blob(&scene, 0, 3, "nmethod", 3);
	scene_blob(&scene, 3, 3, "nmethod", 4);
	struct scene_block *half_made = scene_blob(&scene, 6, 3, "nmethod", 5);
	struct scene_block *grown = scene_blob(&scene, 9, 3, "nmethod", 6);
	half_made->used = 0;
	CHECK_EQ(scene_read(&scene), 0);
	CHECK_EQ(scene.code.blob_count, 3);

	kept->frame = 30;
	scene_blob(&scene, 3, 2, "nmethod", 40);
	scene.map[5] = 0xff;
	half_made->used = 1;
	grown->frame = 60;
	scene_blob(&scene, 12, 2, "nmethod", 70);
	CHECK_EQ(hotspot_code_read(&scene.layout, &scene.memory, &scene.texts, &scene.code, &now),
		 0);
	CHECK_EQ(now.blob_count, 5);
	CHECK_EQ(now.heap[0].count, 5);
	CHECK_EQ(now.blob[0].frame_words, 3);
	CHECK_EQ(now.blob[1].frame_words, 40);
	CHECK_EQ(now.blob[2].frame_words, 5);
	CHECK_EQ(now.blob[3].frame_words, 60); /* the last one: no other followed it */
	CHECK_EQ(now.blob[4].frame_words, 70);
	for (size_t i = 1; i < now.blob_count; i++)
		CHECK(now.blob[i - 1].hi <= now.blob[i].lo);
	hotspot_code_close(&now);
	scene_close(&scene);
}

UNIT_TEST(impossible_heaps_are_refused)
{
	struct scene scene;

	scene_open(&scene);
	scene.list.length = HOTSPOT_HEAPS_MAX + 1;
	CHECK_EQ(scene_read(&scene), -EPROTO);
	scene.list.length = 2;
	scene.array_data[1] = scene.array_data[0]; /* the same one again overlaps */
	CHECK_EQ(scene_read(&scene), -EPROTO);
	scene.list.length = 1;
	scene.heap.bits = 40;
	CHECK_EQ(scene_read(&scene), -EPROTO);
	scene.heap.bits = 7;
	scene.heap.memory.high += 8;
	CHECK_EQ(scene_read(&scene), -EPROTO);
	scene.array = 8;
	CHECK_EQ(scene_read(&scene), -EFAULT);
	scene_close(&scene);
}

UNIT_TEST(code_by_offsets_as_newer_versions_have_it)
{
	struct scene scene;

	scene_open(&scene);
	struct scene_block *block = scene_blob(&scene, 4, 2, "nmethod", 6);
	scene.layout.field[HOTSPOT_BLOB_CODE].is_known = false;
	scene_field(&scene, HOTSPOT_BLOB_CODE_OFFSET, 8, 2);
	scene_field(&scene, HOTSPOT_BLOB_DATA_OFFSET, 16, 2);
	block->code = 100;
	block->code_end = 200;
	CHECK_EQ(scene_read(&scene), 0);
	CHECK_EQ(scene.code.blob_count, 1);
	CHECK_EQ(scene.code.blob[0].lo, (uintptr_t)&block->name + 100);
	CHECK_EQ(scene.code.blob[0].hi, (uintptr_t)&block->name + 200);
	scene_close(&scene);
}

UNIT_TEST(rows_begin_where_the_frame_is_complete)
{
	struct scene scene;
	struct unwind_table table;
	const struct hi_unwind_row *row;

	scene_open(&scene);
	scene_blob(&scene, 0, 2, "Interpreter", 0);
	const struct scene_block *compiled = scene_blob(&scene, 2, 2, "nmethod", 6);
	const struct scene_block *huge = scene_blob(&scene, 4, 2, "nmethod", INT16_MAX + 1);
	scene_blob(&scene, 6, 2, "never_complete", 4)->complete = -1;
	CHECK_EQ(scene_read(&scene), 0);
	CHECK_EQ(hotspot_rows_build(&scene.code, &scene.code.heap[0], &table), 0);
	CHECK_EQ(table.row[0].pc, 0);
	CHECK_EQ(unwind_table_find(&table, scene.code.blob[0].lo + 20)->kind, HI_UNWIND_BP_SP);
	CHECK_EQ(unwind_table_find(&table, scene.code.blob[0].lo + 20)->bp_slot, -3);
	CHECK_EQ(unwind_table_find(&table, compiled->code + 15)->kind, HI_UNWIND_NONE);
	row = unwind_table_find(&table, compiled->code + 16);
	CHECK_EQ(row->kind, HI_UNWIND_SP);
	CHECK_EQ(row->cfa, 6);
	CHECK_EQ(row->bp_slot, -2);
	CHECK_EQ(unwind_table_find(&table, compiled->code_end - 1)->kind, HI_UNWIND_SP);
	CHECK_EQ(unwind_table_find(&table, compiled->code_end)->kind, HI_UNWIND_NONE);
	CHECK_EQ(unwind_table_find(&table, huge->code + 16)->kind, HI_UNWIND_NONE);
	CHECK_EQ(unwind_table_find(&table, scene.code.blob[3].lo)->cfa, 4);
	unwind_table_close(&table);
	scene_close(&scene);
}

UNIT_MAIN()
