/* SPDX-License-Identifier: MIT */
/* read_pprof_test.c - messages of other writers, and our own, which tells its samples again. */
#include "read_file.h"

#include <math.h>

#include "caveats.h"
#include "pprof.h"
#include "pprof_fields.h"
#include "protobuf.h"
#include "text_equal.h"

#define STRINGS_MAX 32

/*
 * A message in the making. Strings get their numbers as they come, and may be put in at the end, as
 * others do.
 */
struct writer {
	struct protobuf message, part, inner;
	const char *string[STRINGS_MAX];
	uint64_t string_count;
};

static uint64_t text(struct writer *writer, const char *string)
{
	for (uint64_t i = 0; i < writer->string_count; i++) {
		if (strcmp(writer->string[i], string) == 0)
			return i;
	}
	CHECK(writer->string_count < STRINGS_MAX);
	writer->string[writer->string_count] = string;
	return writer->string_count++;
}

static void put(struct writer *writer, unsigned int field)
{
	protobuf_message(&writer->message, field, &writer->part);
	protobuf_reset(&writer->part);
}

static void put_type(struct writer *writer, unsigned int field, const char *type, const char *unit)
{
	protobuf_number(&writer->part, VALUE_TYPE, text(writer, type));
	protobuf_number(&writer->part, VALUE_UNIT, text(writer, unit));
	put(writer, field);
}

static void put_function(struct writer *writer, uint64_t id, const char *name, const char *file)
{
	protobuf_number(&writer->part, FUNCTION_ID, id);
	protobuf_number(&writer->part, FUNCTION_NAME, text(writer, name));
	protobuf_number(&writer->part, FUNCTION_SYSTEM_NAME, text(writer, name));
	protobuf_number(&writer->part, FUNCTION_FILENAME, text(writer, file));
	put(writer, PROFILE_FUNCTION);
}

static void put_line(struct writer *writer, uint64_t function, uint64_t number)
{
	protobuf_reset(&writer->inner);
	protobuf_number(&writer->inner, LINE_FUNCTION_ID, function);
	protobuf_number(&writer->inner, LINE_LINE, number);
	protobuf_message(&writer->part, LOCATION_LINE, &writer->inner);
}

/* Location 1 is in inlined() in serve(), 2 in main() without an address, 3 only an address. */
static void put_tables(struct writer *writer)
{
	protobuf_number(&writer->part, MAPPING_ID, 5);
	protobuf_number(&writer->part, MAPPING_START, 0x400000);
	protobuf_number(&writer->part, MAPPING_LIMIT, 0x500000);
	protobuf_number(&writer->part, MAPPING_OFFSET, 0x1000);
	protobuf_number(&writer->part, MAPPING_FILENAME, text(writer, "/opt/server"));
	protobuf_number(&writer->part, MAPPING_BUILD_ID, text(writer, "dead01"));
	put(writer, PROFILE_MAPPING);
	protobuf_number(&writer->part, LOCATION_ID, 1);
	protobuf_number(&writer->part, LOCATION_MAPPING_ID, 5);
	protobuf_number(&writer->part, LOCATION_ADDRESS, 0x400100);
	put_line(writer, 7, 12);
	put_line(writer, 8, 34);
	put(writer, PROFILE_LOCATION);
	protobuf_number(&writer->part, LOCATION_ID, 2);
	put_line(writer, 9, 56);
	put(writer, PROFILE_LOCATION);
	protobuf_number(&writer->part, LOCATION_ID, 3);
	protobuf_number(&writer->part, LOCATION_MAPPING_ID, 5);
	protobuf_number(&writer->part, LOCATION_ADDRESS, 0x400200);
	put(writer, PROFILE_LOCATION);
	put_function(writer, 7, "inlined", "server.c");
	put_function(writer, 8, "_ZN3app5serveEv", "server.c");
	put_function(writer, 9, "main", "main.c");
}

static void put_sample(struct writer *writer, const uint64_t *value, size_t count,
		       const char *thread)
{
	static const uint64_t location[] = {3, 1, 2};

	protobuf_packed(&writer->part, SAMPLE_LOCATION_ID, location, 3);
	protobuf_packed(&writer->part, SAMPLE_VALUE, value, count);
	if (thread) {
		protobuf_reset(&writer->inner);
		protobuf_number(&writer->inner, LABEL_KEY, text(writer, "thread"));
		protobuf_number(&writer->inner, LABEL_STR, text(writer, thread));
		protobuf_message(&writer->part, SAMPLE_LABEL, &writer->inner);
	}
	put(writer, PROFILE_SAMPLE);
}

static void writer_open(struct writer *writer)
{
	*writer = (struct writer){.string_count = 0};
	text(writer, "");
}

static void writer_close(struct writer *writer)
{
	protobuf_close(&writer->message);
	protobuf_close(&writer->part);
	protobuf_close(&writer->inner);
}

static int finish(struct writer *writer, struct profile *out_profile)
{
	for (uint64_t i = 0; i < writer->string_count; i++)
		protobuf_string(&writer->message, PROFILE_STRING_TABLE, writer->string[i]);
	return read_bytes(writer->message.bytes, writer->message.size, out_profile);
}

static void put_heap_types(struct writer *writer)
{
	put_type(writer, PROFILE_SAMPLE_TYPE, "alloc_objects", "count");
	put_type(writer, PROFILE_SAMPLE_TYPE, "alloc_space", "bytes");
	put_type(writer, PROFILE_SAMPLE_TYPE, "inuse_objects", "count");
	put_type(writer, PROFILE_SAMPLE_TYPE, "inuse_space", "bytes");
}

UNIT_TEST(values_frames_and_modules)
{
	static const uint64_t value[] = {10, 1000, 4, 400};
	struct writer writer;
	struct profile profile;

	writer_open(&writer);
	put_type(&writer, PROFILE_PERIOD_TYPE, "space", "bytes"); /* Go's runtime begins with it */
	put_heap_types(&writer);
	put_sample(&writer, value, 4, NULL);
	put_tables(&writer);
	CHECK_EQ(finish(&writer, &profile), 0);
	CHECK(profile.meta.damage == NULL);
	CHECK(profile.meta.is_scaled);
	CHECK_EQ(profile.meta.interval, 1);
	CHECK_EQ(profile.meta.missing, 0);
	CHECK(total_of(&profile, ALLOC_OBJECTS) == 10 && total_of(&profile, ALLOC_SPACE) == 1000);
	CHECK(total_of(&profile, INUSE_OBJECTS) == 4 && total_of(&profile, INUSE_SPACE) == 400);
	const uint32_t *index = profile.stack[0].frame;
	CHECK_EQ(profile.stack[0].frame_count, 3);
	CHECK_EQ(profile.frame[index[0]].address, 0x400201); /* a return address */
	CHECK_EQ(profile.frame[index[0]].module, 0);
	CHECK_EQ(profile.frame[index[1]].line_count, 2);
	CHECK_STR(profile.frame[index[1]].line[0].function, "inlined");
	CHECK_STR(profile.frame[index[1]].line[1].function, "app::serve");
	CHECK_STR(profile.frame[index[1]].line[1].system_name, "_ZN3app5serveEv");
	CHECK_EQ(profile.frame[index[1]].line[1].line, 34);
	CHECK_STR(profile.frame[index[2]].line[0].file, "main.c");
	CHECK_EQ(profile.frame[index[2]].module, -1);
	CHECK_EQ(profile.module[0].file_offset, 0x1000);
	CHECK_EQ(profile.module[0].build_id_size, 3);
	CHECK_EQ(profile.module[0].build_id[2], 1);
	profile_close(&profile);
	writer_close(&writer);
}

/* The functions of a stack, leaf first, with spaces between; "?" = without a name. */
static void names_of(const struct profile *profile, char text[128])
{
	const struct profile_stack *stack = &profile->stack[profile->row[0].key.stack];
	size_t used = 0;

	for (uint32_t i = 0; i < stack->frame_count; i++) {
		const struct profile_frame *frame = &profile->frame[stack->frame[i]];

		for (size_t k = 0; k < frame->line_count || k == 0; k++)
			used += (size_t)snprintf(text + used, 128 - used, "%s%s", used ? " " : "",
						 frame->line_count ? frame->line[k].function : "?");
	}
}

static void check_dropped(const char *drop, const char *keep, const char *names, bool is_damaged)
{
	static const uint64_t value[] = {10, 1000, 4, 400};
	struct writer writer;
	struct profile profile;
	char got[128];

	writer_open(&writer);
	put_heap_types(&writer);
	put_sample(&writer, value, 4, NULL);
	put_tables(&writer);
	protobuf_number(&writer.message, PROFILE_DROP_FRAMES, text(&writer, drop));
	protobuf_number(&writer.message, PROFILE_KEEP_FRAMES, text(&writer, keep));
	CHECK_EQ(finish(&writer, &profile), 0);
	names_of(&profile, got);
	CHECK_STR(got, names);
	CHECK_EQ(profile.meta.damage != NULL, is_damaged);
	profile_close(&profile);
	writer_close(&writer);
}

/* As in go tool pprof, which tests/pprof compares with. The stack is ? inlined<serve main. */
UNIT_TEST(frames_are_dropped_as_the_file_asks)
{
	check_dropped("", "", "? inlined app::serve main", false);
	check_dropped("serve", "", "? inlined app::serve main", false); /* not a whole name */
	check_dropped("app::serve", "", "main", false);
	check_dropped("app::.*|other", "", "main", false);
	check_dropped("app::.*", ".*serve", "? inlined app::serve main", false);
	check_dropped("inlined", "", "app::serve main", false);
	/* Nothing is left out before the first function that stays. */
	check_dropped("main", "", "? inlined app::serve main", false);
	check_dropped("main|inlined", "", "? app::serve main", false);
	check_dropped("(inlined", "", "? inlined app::serve main", true);
	check_dropped("(inlined){2}", "", "? inlined app::serve main", true);
	check_dropped("inlined", "(", "? inlined app::serve main", true);
}

UNIT_TEST(threads_become_parts)
{
	static const uint64_t value[] = {10, 1000, 4, 400};
	struct writer writer;
	struct profile profile;

	writer_open(&writer);
	put_heap_types(&writer);
	put_sample(&writer, value, 4, "worker");
	put_sample(&writer, value, 4, NULL);
	put_tables(&writer);
	CHECK_EQ(finish(&writer, &profile), 0);
	CHECK_EQ(profile.row_count, 1);
	CHECK_EQ(profile.breakdown.count, 2);
	CHECK_STR(profile.breakdown.thread[profile.breakdown.part[0].thread].name, "worker");
	CHECK_EQ(profile.breakdown.part[0].inuse_bytes, 400);
	CHECK_EQ(profile.breakdown.part[1].thread, 0);
	CHECK_EQ(profile.breakdown.part[1].inuse_bytes, 400);
	profile_close(&profile);
	writer_close(&writer);
}

static void put_label(struct writer *writer, const char *key, const char *value, uint64_t number,
		      const char *unit)
{
	protobuf_reset(&writer->inner);
	protobuf_number(&writer->inner, LABEL_KEY, text(writer, key));
	protobuf_number(&writer->inner, LABEL_STR, text(writer, value));
	protobuf_number(&writer->inner, LABEL_NUM, number);
	protobuf_number(&writer->inner, LABEL_NUM_UNIT, text(writer, unit));
	protobuf_message(&writer->part, SAMPLE_LABEL, &writer->inner);
}

static void check_label(const struct label *label, const char *key, const char *value,
			int64_t number, const char *unit)
{
	CHECK_STR(label->key, key);
	CHECK(text_equal(label->text, value));
	CHECK_EQ(label->number, number);
	CHECK(text_equal(label->unit, unit));
}

static void check_labels(const struct profile *profile)
{
	const struct label_set *first = labels_get(&profile->labels, profile->row[0].key.labels);

	CHECK_EQ(profile->row_count, 2);
	CHECK_EQ(first->count, 4);
	check_label(&first->label[0], "alignment", NULL, 16, "bytes");
	check_label(&first->label[1], "large", NULL, 3072, "bytes");
	check_label(&first->label[2], "request", "/login", 0, NULL);
	check_label(&first->label[3], "wait", NULL, -5, "ms");
	CHECK_EQ(labels_get(&profile->labels, profile->row[1].key.labels)->count, 0);
	CHECK_EQ(profile->row[0].inuse_bytes, 800);
	CHECK_EQ(profile->row[1].inuse_bytes, 400);
}

static int write_and_read(const struct profile *profile, struct profile *out_copy);

/* Two samples with the same labels in another order, and one of the same stack without. */
UNIT_TEST(labels_tell_samples_apart_and_are_written_again)
{
	static const uint64_t value[] = {10, 1000, 4, 400};
	struct writer writer;
	struct profile profile, copy;

	writer_open(&writer);
	put_heap_types(&writer);
	put_label(&writer, "request", "/login", 0, "");
	put_label(&writer, "wait", "", (uint64_t)-5, "ms");
	put_label(&writer, "large", "", 3, "kilobytes");
	put_label(&writer, "alignment", "", 16, "");
	put_label(&writer, "nothing", "", 0, "");
	put_sample(&writer, value, 4, NULL);
	put_label(&writer, "alignment", "", 16, "");
	put_label(&writer, "large", "", 3072, "b");
	put_label(&writer, "wait", "", (uint64_t)-5, "ms");
	put_label(&writer, "request", "/login", 0, "");
	put_sample(&writer, value, 4, NULL);
	put_sample(&writer, value, 4, NULL);
	put_tables(&writer);
	CHECK_EQ(finish(&writer, &profile), 0);
	CHECK(profile.meta.damage == NULL);
	check_labels(&profile);
	CHECK_EQ(write_and_read(&profile, &copy), 0);
	check_labels(&copy);
	profile_close(&copy);
	profile_close(&profile);
	writer_close(&writer);
}

/* Differences: what is negative counts for the base, whatever the other columns are. */
UNIT_TEST(negative_values)
{
	static const uint64_t value[] = {(uint64_t)-3, (uint64_t)-300, 2, 500};
	static const uint64_t bytes_only[] = {0, 0, 0, (uint64_t)-70};
	struct writer writer;
	struct profile profile;

	writer_open(&writer);
	put_heap_types(&writer);
	put_sample(&writer, value, 4, NULL);
	put_sample(&writer, bytes_only, 4, NULL);
	put_tables(&writer);
	CHECK_EQ(finish(&writer, &profile), 0);
	CHECK(total_of(&profile, ALLOC_OBJECTS) == -3 && total_of(&profile, ALLOC_SPACE) == -300);
	CHECK(total_of(&profile, INUSE_OBJECTS) == 2 && total_of(&profile, INUSE_SPACE) == 430);
	for (size_t i = 0; i < profile.row_count; i++)
		CHECK(profile.row[i].inuse_count <= profile.row[i].alloc_count);
	profile_close(&profile);
	writer_close(&writer);
}

/* As in a delta profile of Go: what is in use is older than what was allocated. */
UNIT_TEST(more_in_use_than_allocated_is_no_comparison)
{
	static const uint64_t value[] = {0, 0, 50, 5000}, negative[] = {1, 100, (uint64_t)-1, 0};
	struct writer writer;
	struct profile profile;

	writer_open(&writer);
	put_heap_types(&writer);
	put_sample(&writer, value, 4, NULL);
	put_tables(&writer);
	CHECK_EQ(finish(&writer, &profile), 0);
	CHECK(profile_has_base(&profile) && !profile_is_comparison(&profile));
	CHECK(!profile.meta.is_difference);
	for (int type = 0; type < SAMPLE_TYPES_ALWAYS; type++) {
		const struct estimate total = estimate_total(&profile, (enum sample_type)type);

		CHECK(total.base == 0 && total.value == (double)value[type]);
	}
	CHECK_EQ(profile_block_bytes(&profile.row[0]), 100);
	profile_close(&profile);
	writer_close(&writer);

	writer_open(&writer);
	put_heap_types(&writer);
	put_sample(&writer, value, 4, NULL);
	protobuf_packed(&writer.part, SAMPLE_VALUE, negative, 4);
	put(&writer, PROFILE_SAMPLE);
	put_tables(&writer);
	CHECK_EQ(finish(&writer, &profile), 0);
	CHECK(total_of(&profile, INUSE_OBJECTS) == 49 && total_of(&profile, ALLOC_OBJECTS) == 1);
	profile_close(&profile);
	writer_close(&writer);
}

/* The mean of estimates is not the size of the blocks: 333 / 10 where the file says 32. */
UNIT_TEST(the_label_is_the_size_of_the_blocks)
{
	static const uint64_t value[] = {10, 333, 4, 133};
	struct writer writer;
	struct profile profile;

	writer_open(&writer);
	put_heap_types(&writer);
	put_label(&writer, "bytes", "", 32, "");
	put_sample(&writer, value, 4, NULL);
	put_sample(&writer, value, 4, NULL);
	put_tables(&writer);
	CHECK_EQ(finish(&writer, &profile), 0);
	CHECK_EQ(profile.row_count, 2);
	CHECK_EQ(profile_block_bytes(&profile.row[0]), 32);
	CHECK_EQ(profile_block_bytes(&profile.row[1]), 33);
	CHECK_EQ(profile.row[1].block_bytes, PROFILE_NO_LABEL);
	profile_close(&profile);
	writer_close(&writer);
}

/* The strings come last, so these are what a file that was cut off lacks first. */
UNIT_TEST(names_that_differ_in_control_characters_stay_different)
{
	static const char *const names[] = {"a\nb", "a\tb"}, *const shown[] = {"a\\nb", "a\\tb"};
	static const uint64_t value[] = {10, 1000, 4, 400};
	struct writer writer;
	struct profile profile;

	writer_open(&writer);
	put_heap_types(&writer);
	for (uint64_t id = 1; id <= 2; id++) {
		put_function(&writer, id, names[id - 1], "f.c");
		protobuf_number(&writer.part, LOCATION_ID, id);
		put_line(&writer, id, 1);
		put(&writer, PROFILE_LOCATION);
		protobuf_packed(&writer.part, SAMPLE_LOCATION_ID, &id, 1);
		protobuf_packed(&writer.part, SAMPLE_VALUE, value, 4);
		put(&writer, PROFILE_SAMPLE);
	}
	CHECK_EQ(finish(&writer, &profile), 0);
	CHECK_EQ(profile.frame_count, 2);
	for (size_t i = 0; i < 2; i++)
		CHECK_STR(profile.frame[i].line[0].function, shown[i]);
	profile_close(&profile);
	writer_close(&writer);
}

UNIT_TEST(strings_beyond_the_table_are_damage)
{
	static const uint64_t value[] = {10, 1000, 4, 400};
	struct writer writer;
	struct profile profile;

	writer_open(&writer);
	put_heap_types(&writer);
	put_sample(&writer, value, 4, NULL);
	put_tables(&writer);
	writer.string_count -= 2; /* "main" and its file */
	protobuf_number(&writer.part, LOCATION_ID, 4);
	put_line(&writer, 7, 12);
	put(&writer, PROFILE_LOCATION);
	protobuf_packed(&writer.part, SAMPLE_LOCATION_ID, (const uint64_t[]){4}, 1);
	protobuf_packed(&writer.part, SAMPLE_VALUE, value, 4);
	put(&writer, PROFILE_SAMPLE);
	CHECK_EQ(finish(&writer, &profile), 0);
	CHECK(profile.meta.damage != NULL);
	CHECK_EQ(profile.row_count, 1);
	CHECK(total_of(&profile, INUSE_SPACE) == 400);
	profile_close(&profile);
	writer_close(&writer);
}

UNIT_TEST(some_types_only)
{
	static const uint64_t value[] = {7, 5000};
	struct writer writer;
	struct profile profile;

	writer_open(&writer);
	put_type(&writer, PROFILE_SAMPLE_TYPE, "contexts", "count");
	put_type(&writer, PROFILE_SAMPLE_TYPE, "space", "bytes");
	put_sample(&writer, value, 2, NULL);
	put_tables(&writer);
	CHECK_EQ(finish(&writer, &profile), 0);
	CHECK(total_of(&profile, INUSE_SPACE) == 5000 && total_of(&profile, ALLOC_SPACE) == 5000);
	CHECK_EQ(profile.meta.missing, PROFILE_MISSING_OBJECTS | PROFILE_MISSING_ALLOC);
	profile_close(&profile);
	writer_close(&writer);

	writer_open(&writer);
	put_type(&writer, PROFILE_SAMPLE_TYPE, "samples", "count");
	put_type(&writer, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
	put_sample(&writer, value, 2, NULL);
	CHECK_EQ(finish(&writer, &profile), -EBADMSG);
	CHECK(strstr(profile.meta.damage, "it counts samples (count), cpu (nanoseconds)") != NULL);
	profile_close(&profile);
	writer_close(&writer);
}

UNIT_TEST(units_other_than_bytes)
{
	static const uint64_t value[] = {3, (uint64_t)-2};
	struct writer writer;
	struct profile profile;

	writer_open(&writer);
	put_type(&writer, PROFILE_SAMPLE_TYPE, "inuse_space", "kilobytes");
	put_type(&writer, PROFILE_SAMPLE_TYPE, "alloc_space", "MiB");
	put_sample(&writer, value, 2, NULL);
	put_tables(&writer);
	CHECK_EQ(finish(&writer, &profile), 0);
	CHECK(total_of(&profile, INUSE_SPACE) == 3 * 1024);
	CHECK(total_of(&profile, ALLOC_SPACE) == -2 * 1024 * 1024);
	profile_close(&profile);
	writer_close(&writer);
}

UNIT_TEST(a_file_says_what_to_show_and_comments)
{
	static const uint64_t value[] = {7, 5000, 1, 700};
	struct writer writer;
	struct profile profile;

	writer_open(&writer);
	put_heap_types(&writer);
	put_sample(&writer, value, 4, NULL);
	put_tables(&writer);
	protobuf_number(&writer.message, PROFILE_DEFAULT_SAMPLE_TYPE, text(&writer, "alloc_space"));
	protobuf_number(&writer.message, PROFILE_COMMENT, text(&writer, "made by hand"));
	protobuf_number(&writer.message, PROFILE_COMMENT, text(&writer, "on a monday"));
	CHECK_EQ(finish(&writer, &profile), 0);
	CHECK_EQ(profile.meta.default_type, ALLOC_SPACE + 1);
	CHECK_STR(profile.meta.comments, "made by hand\non a monday\n");
	profile_close(&profile);
	writer_close(&writer);

	writer_open(&writer);
	put_heap_types(&writer);
	put_sample(&writer, value, 4, NULL);
	put_tables(&writer);
	protobuf_number(&writer.message, PROFILE_DEFAULT_SAMPLE_TYPE, text(&writer, "cpu"));
	CHECK_EQ(finish(&writer, &profile), 0);
	CHECK_EQ(profile.meta.default_type, 0);
	CHECK(!profile.meta.comments);
	profile_close(&profile);
	writer_close(&writer);
}

/* What other profilers of memory count, by their names for it. */
UNIT_TEST(types_of_other_profilers)
{
	static const struct {
		const char *type[4];
		double total[SAMPLE_TYPE_COUNT]; /* in the order of the enum */
	} files[] = {
		{{"alloc_in_new_tlab_objects", "alloc_in_new_tlab_bytes", "x", "y"}, {1, 20, 0, 0}},
		{{"alloc_outside_tlab_objects", "alloc_outside_tlab_bytes"}, {1, 20, 0, 0}},
		{{"alloc_in_new_tlab_objects", "alloc_in_new_tlab_bytes",
		  "alloc_outside_tlab_objects", "alloc_outside_tlab_bytes"},
		 {301, 4020, 0, 0}},
		{{"live", "x"}, {1, 1, 1, 1}},
		{{"allocations", "size"}, {1, 20, 0, 0}},
		{{"alloc-samples", "alloc-space", "heap-samples", "heap-space"},
		 {1, 20, 300, 4000}},
	};
	static const uint64_t value[] = {1, 20, 300, 4000};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct writer writer;
		struct profile profile;
		size_t count = 0;

		writer_open(&writer);
		for (; count < 4 && files[i].type[count]; count++)
			put_type(&writer, PROFILE_SAMPLE_TYPE, files[i].type[count], "count");
		put_sample(&writer, value, count, NULL);
		put_tables(&writer);
		CHECK_EQ(finish(&writer, &profile), 0);
		CHECK(profile.meta.damage == NULL);
		for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
			CHECK((i == 3 && type != INUSE_OBJECTS) || /* counts objects alone */
			      fabs(total_of(&profile, (enum sample_type)type) -
				   files[i].total[type]) < 1e-9);
		profile_close(&profile);
		writer_close(&writer);
	}
}

/* A file that holds differences has neither a before nor an after. */
UNIT_TEST(differences_are_said_to_be_some)
{
	static const uint64_t value[] = {0, 0, (uint64_t)-1, (uint64_t)-10};
	struct writer writer;
	struct profile profile;

	writer_open(&writer);
	put_heap_types(&writer);
	put_sample(&writer, value, 4, NULL);
	put_tables(&writer);
	CHECK_EQ(finish(&writer, &profile), 0);
	CHECK(profile.meta.is_difference);
	profile_close(&profile);
	writer_close(&writer);
}

UNIT_TEST(what_makes_no_sense_is_left_out)
{
	static const uint64_t value[] = {1, 2, 1, 2}, huge[] = {1ull << 63, 1, 1, 1};
	struct writer writer;
	struct profile profile;

	writer_open(&writer);
	put_heap_types(&writer);
	put_sample(&writer, value, 3, NULL); /* a value too few */
	put_sample(&writer, huge, 4, NULL);
	put_sample(&writer, value, 4, NULL);
	put_tables(&writer);
	CHECK_EQ(finish(&writer, &profile), 0);
	CHECK_STR(profile.meta.damage, "damaged: a sample has 3 values, and there are 4 types");
	CHECK(total_of(&profile, INUSE_SPACE) == 2);
	profile_close(&profile);
	writer_close(&writer);
}

/* Strings come last: what was cut off has no names, and is no row. */
UNIT_TEST(every_cut_is_named)
{
	static const uint64_t value[] = {10, 1000, 4, 400};
	struct writer writer;

	writer_open(&writer);
	put_heap_types(&writer);
	put_tables(&writer);
	put_sample(&writer, value, 4, NULL);
	const size_t first = writer.message.size;
	put_sample(&writer, value, 4, "worker");
	for (size_t cut = 0; cut < writer.message.size; cut++) {
		struct profile profile;
		const int err = read_bytes(writer.message.bytes, cut, &profile);

		CHECK(err == 0 || err == -EBADMSG || err == -ENODATA || err == -ENOEXEC);
		CHECK(err != -EBADMSG || profile.meta.damage);
		CHECK(cut <= first || err == -EBADMSG);
		profile_close(&profile);
	}
	for (uint64_t i = 0; i < writer.string_count; i++)
		protobuf_string(&writer.message, PROFILE_STRING_TABLE, writer.string[i]);
	check_damage_anywhere(writer.message.bytes, writer.message.size);
	writer_close(&writer);
}

/* ---- our own --------------------------------------------------------------------------------- */

static void add_row(struct profile *profile, uint64_t address, uint64_t size, uint64_t count,
		    uint64_t inuse)
{
	struct profile_row_key key = {.size_class =
					      profile_read_size_class(size, profile->meta.interval),
				      .interval = profile->meta.interval};
	uint32_t frame, row;

	CHECK_EQ(profile_frame_at(profile, address, -1, &frame), 0);
	CHECK_EQ(profile_stack_of(profile, &frame, 1, 0, &key.stack), 0);
	CHECK_EQ(profile_row_at(profile, &key, &row), 0);
	profile->row[row].alloc_count = count;
	profile->row[row].alloc_bytes = count * size;
	profile->row[row].inuse_count = inuse;
	profile->row[row].inuse_bytes = inuse * size;
}

static int write_and_read(const struct profile *profile, struct profile *out_profile)
{
	char *bytes;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);

	CHECK(out && !pprof_write(profile, out) && !fclose(out));
	const int err = read_bytes(bytes, size, out_profile);
	free(bytes);
	return err;
}

static void make_own(struct profile *profile, uint64_t interval)
{
	CHECK_EQ(profile_open(profile), 0);
	profile->meta.version = strdup("0.1.0");
	profile->meta.comm = strdup("a) on b");
	profile->meta.host = strdup("here");
	profile->meta.cmdline = strdup("/opt/server --x");
	profile->meta.exe = strdup("/opt/server");
	profile->meta.process_start_ticks = 4711;
	profile->meta.end_reason = HI_STREAM_END_NOT_YET;
	profile->meta.pid = 1234;
	profile->meta.interval = interval;
	profile->meta.samples = 12;
	profile->meta.start_unix_ns = 1700000000000000000;
	add_row(profile, 0x1001, 16, 3, 1);
	add_row(profile, 0x1001, 100000, 5, 5);
	add_row(profile, 0x2001, 3000000, 4, 0);
}

UNIT_TEST(our_own_estimates_become_samples_again)
{
	struct profile profile, copy;

	make_own(&profile, 65536);
	CHECK_EQ(write_and_read(&profile, &copy), 0);
	CHECK(copy.meta.damage == NULL);
	CHECK(!copy.meta.is_scaled);
	CHECK_EQ(copy.meta.interval, 65536);
	CHECK_EQ(copy.meta.samples, 12);
	CHECK_EQ(copy.meta.pid, 1234);
	CHECK_EQ(copy.meta.start_unix_ns, 1700000000000000000);
	CHECK_STR(copy.meta.comm, "a) on b");
	CHECK_STR(copy.meta.host, "here");
	CHECK_STR(copy.meta.cmdline, "/opt/server --x");
	CHECK_STR(copy.meta.exe, "/opt/server");
	CHECK_EQ(copy.meta.process_start_ticks, 4711);
	CHECK_EQ(copy.meta.end_reason, HI_STREAM_END_NOT_YET);
	CHECK_EQ(copy.row_count, profile.row_count);
	for (size_t i = 0; i < copy.row_count; i++) {
		CHECK_EQ(copy.row[i].alloc_count, profile.row[i].alloc_count);
		CHECK_EQ(copy.row[i].inuse_count, profile.row[i].inuse_count);
		CHECK(fabs((double)copy.row[i].alloc_bytes - (double)profile.row[i].alloc_bytes) <=
		      1e-3 * (double)profile.row[i].alloc_bytes);
		CHECK_EQ(copy.row[i].key.size_class, profile.row[i].key.size_class);
	}
	const struct estimate before = estimate_total(&profile, INUSE_SPACE),
			      after = estimate_total(&copy, INUSE_SPACE);
	CHECK(fabs(before.value - after.value) <= 1e-3 * before.value &&
	      fabs(before.variance - after.variance) <= 1e-3 * before.variance);
	profile_close(&copy);
	profile_close(&profile);
}

UNIT_TEST(our_own_caveats_come_back)
{
	struct profile profile, copy;

	make_own(&profile, 65536);
	CHECK_EQ(caveats_set(&profile.meta, HI_CAVEAT_IMPOSSIBLE, "more than there is: \\x41"), 0);
	CHECK_EQ(write_and_read(&profile, &copy), 0);
	CHECK_EQ(caveats_bits(&copy.meta), 1u << HI_CAVEAT_IMPOSSIBLE);
	CHECK(!strncmp(copy.meta.caveat[HI_CAVEAT_IMPOSSIBLE], "more than there is: ", 20));
	profile_close(&copy);
	profile_close(&profile);
}

UNIT_TEST(inodes_of_files_without_build_id_come_back)
{
	struct profile profile, copy;
	char path[] = "/opt/server";
	uint32_t index;

	make_own(&profile, 4096);
	/* more than there is room for in one comment */
	for (uint32_t i = 0; i < 100; i++) {
		const struct profile_module module = {.lo = UINT64_MAX / 2 + i * 0x1000,
						      .hi = UINT64_MAX / 2 + (i + 1) * 0x1000,
						      .number = i + 1,
						      .inode = UINT64_MAX - i,
						      .build_id_size = i % 2,
						      .path = path};
		CHECK_EQ(profile_add_module(&profile, &module, &index), 0);
	}
	CHECK_EQ(write_and_read(&profile, &copy), 0);
	CHECK_EQ(copy.module_count, profile.module_count);
	for (size_t i = 0; i < copy.module_count; i++)
		CHECK_EQ(copy.module[i].inode,
			 copy.module[i].build_id_size ? 0 : profile.module[i].inode);
	profile_close(&copy);
	profile_close(&profile);
}

UNIT_TEST(what_was_hooked_comes_back)
{
	static const char lines[] = "glibc in /lib/libc.so.6: 12 functions\njemalloc: none\n";
	struct profile profile, copy;

	make_own(&profile, 65536);
	profile.meta.hooked = strdup(lines);
	CHECK_EQ(write_and_read(&profile, &copy), 0);
	CHECK_STR(copy.meta.hooked, lines);
	profile_close(&copy);
	profile_close(&profile);
}

UNIT_TEST(our_own_with_another_rate_later_is_as_told)
{
	struct profile profile, copy;

	make_own(&profile, 65536);
	profile_add_change(&profile.meta,
			   &(struct profile_change){.time_ns = 5, .interval = 131072});
	CHECK_EQ(write_and_read(&profile, &copy), 0);
	CHECK(copy.meta.is_scaled);
	CHECK_EQ(copy.meta.interval, 1);
	CHECK(fabs(total_of(&copy, INUSE_SPACE) - total_of(&profile, INUSE_SPACE)) <= 2);
	profile_close(&copy);
	profile_close(&profile);
}

UNIT_TEST(our_own_with_several_intervals_is_as_told)
{
	struct profile profile, copy;
	struct profile_row_key key;
	uint32_t row;

	make_own(&profile, 65536);
	key = profile.row[0].key;
	key.interval = 131072;
	CHECK_EQ(profile_row_at(&profile, &key, &row), 0);
	profile.row[row].alloc_count = 3;
	profile.row[row].alloc_bytes = 48;
	CHECK_EQ(write_and_read(&profile, &copy), 0);
	CHECK(copy.meta.is_scaled);
	CHECK_EQ(copy.meta.interval, 1);
	CHECK_EQ(copy.meta.samples, 12);
	profile_close(&copy);
	profile_close(&profile);
}

UNIT_TEST(our_own_of_every_allocation_is_exact)
{
	struct profile profile, copy;

	make_own(&profile, 1);
	add_row(&profile, 0x1001, 100010, 1, 1); /* a row of its own, though weighed alike */
	CHECK_EQ(write_and_read(&profile, &copy), 0);
	CHECK(!copy.meta.is_scaled);
	CHECK(total_of(&copy, ALLOC_SPACE) == total_of(&profile, ALLOC_SPACE));
	CHECK_EQ(copy.row_count, profile.row_count);
	profile_close(&copy);
	profile_close(&profile);
}

UNIT_MAIN()
