/* SPDX-License-Identifier: MIT */
/* records_test.c - framing: what is whole is handed out, what is not is named by its byte. */
#include "unit.h"

#include <errno.h>

#include "records.h"
#include "stream_file.h"
#include "stream_writer.h"

static const uint64_t frames[] = {0x1001, 0x2002, 0x3003};

static FILE *small_stream(void)
{
	FILE *file = memory_file();

	stream_header(file, 4096);
	stream_alloc(file, 0x7000, 48, frames, 3);
	stream_free(file, 0x7000);
	stream_end(file);
	return file;
}

UNIT_TEST(records_come_in_order)
{
	static const uint16_t expected[] = {HI_STREAM_HEADER, HI_STREAM_ALLOC, HI_STREAM_FREE,
					    HI_STREAM_END};
	const struct hi_stream_record *record;
	char damage[RECORDS_DAMAGE_MAX] = "";
	FILE *file = small_stream();
	struct input input;

	open_input_of(file, SIZE_MAX >> 1, &input);
	for (size_t i = 0; i < 4; i++) {
		CHECK_EQ(records_next(&input, &record, damage), 1);
		CHECK_EQ(record->type, expected[i]);
		CHECK(record_is_sound(record));
		CHECK_EQ((uintptr_t)record % 8, 0);
	}
	CHECK_EQ(records_next(&input, &record, damage), 0);
	CHECK_STR(damage, "");
	input_close(&input);
	fclose(file);
}

UNIT_TEST(a_stream_is_recognized)
{
	FILE *file = small_stream();
	const uint8_t *bytes;
	struct input input;

	open_input_of(file, SIZE_MAX >> 1, &input);
	CHECK_EQ(input_peek(&input, 16, &bytes) >= 16, 1);
	CHECK(records_recognize(bytes, 16));
	CHECK(!records_recognize(bytes, 15));
	CHECK(!records_recognize((const uint8_t *)"heap profile:  1: 2", 16));
	input_close(&input);
	fclose(file);
}

UNIT_TEST(every_cut_is_seen)
{
	size_t whole;
	FILE *file = small_stream();

	free(text_of(file, &whole));
	fclose(file);
	for (size_t size = 0; size < whole; size++) {
		char damage[RECORDS_DAMAGE_MAX] = "";
		const struct hi_stream_record *record;
		struct input input;
		int got;

		file = small_stream();
		open_input_of(file, size, &input);
		while ((got = records_next(&input, &record, damage)) == 1)
			;
		/*
		 * Between two records the end looks like an end; replay.c misses the END record
		 * then.
		 */
		CHECK_EQ(got == 0, damage[0] == 0);
		if (got) {
			CHECK_EQ(got, -EBADMSG);
			CHECK(strstr(damage, "cut off in the record at byte ") != NULL);
		}
		input_close(&input);
		fclose(file);
	}
}

static void check_size_refused(uint32_t size)
{
	struct hi_stream_record bad = {.size = size, .type = HI_STREAM_FREE};
	char damage[RECORDS_DAMAGE_MAX] = "";
	const struct hi_stream_record *record;
	FILE *file = memory_file();
	struct input input;

	stream_header(file, 4096);
	const long at = ftell(file);
	fwrite(&bad, 1, sizeof(bad), file);
	open_input_of(file, SIZE_MAX >> 1, &input);
	CHECK_EQ(records_next(&input, &record, damage), 1);
	CHECK_EQ(records_next(&input, &record, damage), -EBADMSG);
	char expected[64];
	snprintf(expected, sizeof(expected), "damaged at byte %ld: ", at);
	CHECK(strstr(damage, expected) != NULL);
	input_close(&input);
	fclose(file);
}

UNIT_TEST(impossible_sizes_are_refused)
{
	check_size_refused(0);
	check_size_refused(4);
	check_size_refused(33);
	check_size_refused(HI_STREAM_RECORD_MAX + 8);
	check_size_refused(UINT32_MAX - 7);
}

UNIT_TEST(variable_parts_must_fit)
{
	union {
		struct hi_stream_record record;
		struct hi_stream_header header;
		struct hi_stream_module module;
		struct hi_stream_alloc alloc;
		struct hi_stream_stack stack;
		struct hi_stream_maps maps;
		struct hi_stream_thinned thinned;
		uint8_t room[256];
	} r;

	memset(&r, 0, sizeof(r));
	r.alloc = (struct hi_stream_alloc){.record = {.size = 80, .type = HI_STREAM_ALLOC},
					   .frame_count = 3};
	CHECK(record_is_sound(&r.record));
	r.alloc.frame_count = 4;
	CHECK(!record_is_sound(&r.record));
	r.alloc = (struct hi_stream_alloc){
		.record = {.size = HI_STREAM_RECORD_MAX, .type = HI_STREAM_ALLOC},
		.frame_count = UINT16_MAX};
	CHECK(!record_is_sound(&r.record));
	r.stack = (struct hi_stream_stack){
		.record = {.size = 32, .type = HI_STREAM_STACK}, .stack = 1, .frame_count = 2};
	CHECK(record_is_sound(&r.record));
	r.stack.frame_count = 3;
	CHECK(!record_is_sound(&r.record));
	r.stack = (struct hi_stream_stack){
		.record = {.size = HI_STREAM_RECORD_MAX, .type = HI_STREAM_STACK},
		.frame_count = RECORDS_FRAMES_MAX + 1};
	CHECK(!record_is_sound(&r.record));
	r.maps = (struct hi_stream_maps){.record = {.size = 32, .type = HI_STREAM_MAPS},
					 .text_size = UINT32_MAX};
	CHECK(!record_is_sound(&r.record));
	r.header = (struct hi_stream_header){.record = {.size = 64, .type = HI_STREAM_HEADER},
					     .cmdline_size = UINT32_MAX,
					     .comm_size = UINT16_MAX};
	CHECK(!record_is_sound(&r.record));
	r.module = (struct hi_stream_module){
		.record = {.size = 88, .type = HI_STREAM_MODULE}, .lo = 1, .hi = 2, .path_size = 8};
	CHECK(record_is_sound(&r.record));
	r.module.path_size = UINT32_MAX;
	r.module.open_path_size = UINT32_MAX;
	CHECK(!record_is_sound(&r.record));
	r.module = (struct hi_stream_module){.record = {.size = 200, .type = HI_STREAM_MODULE},
					     .lo = 1,
					     .hi = 2,
					     .build_id_size = 33};
	CHECK(!record_is_sound(&r.record));
	r.module = (struct hi_stream_module){
		.record = {.size = 88, .type = HI_STREAM_MODULE}, .lo = 2, .hi = 2};
	CHECK(!record_is_sound(&r.record));
	r.thinned = (struct hi_stream_thinned){.record = {.size = 56, .type = HI_STREAM_THINNED},
					       .count = 2};
	CHECK(record_is_sound(&r.record));
	r.thinned.count = 3;
	CHECK(!record_is_sound(&r.record));
	r.thinned.count = UINT32_MAX;
	CHECK(!record_is_sound(&r.record));
	r.record = (struct hi_stream_record){.size = 8, .type = HI_STREAM_STATS};
	CHECK(!record_is_sound(&r.record));
	r.record = (struct hi_stream_record){.size = 8, .type = 999};
	CHECK(record_is_sound(&r.record));
}

UNIT_MAIN()
