/* SPDX-License-Identifier: MIT */
/*
 * pprof_test.c - the message is taken apart again by a reader of the wire format that shares no
 * code with the writer (wire_fields.h).
 */
#include "unit.h"

#include <zlib.h>

#include "estimate.h"
#include "pprof.h"
#include "protobuf.h"
#include "stream_file.h"
#include "wire_fields.h"

#define LO 0x400000u
#define INTERVAL 65536u

struct parsed {
	uint8_t bytes[1 << 16];
	size_t size;
};

static struct field top(const struct parsed *parsed, unsigned int number, size_t n)
{
	return inner((struct field){.value = parsed->size, .bytes = parsed->bytes}, number, n);
}

static const char *string_of(const struct parsed *parsed, uint64_t number)
{
	static char text[4][256];
	static size_t turn;
	const struct field field = top(parsed, 6, number);

	CHECK_EQ(field.number, 6);
	CHECK(field.value < sizeof(text[0]));
	turn = (turn + 1) % 4;
	memcpy(text[turn], field.bytes, field.value);
	text[turn][field.value] = 0;
	return text[turn];
}

static void write_and_parse(const struct profile *profile, struct parsed *out_parsed)
{
	FILE *file = memory_file();
	size_t size;
	z_stream stream = {0};

	CHECK_EQ(pprof_write(profile, file), 0);
	char *zipped = text_of(file, &size);
	fclose(file);
	stream.next_in = (uint8_t *)zipped;
	stream.avail_in = (uInt)size;
	stream.next_out = out_parsed->bytes;
	stream.avail_out = sizeof(out_parsed->bytes);
	CHECK_EQ(inflateInit2(&stream, 31), Z_OK);
	CHECK_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
	out_parsed->size = stream.total_out;
	inflateEnd(&stream);
	free(zipped);
}

static void make_profile(struct profile *profile)
{
	struct profile_module module = {.lo = LO,
					.hi = LO + 0x1000,
					.file_offset = 0x1000,
					.build_id = {0xde, 0xad},
					.build_id_size = 2};
	char path[] = "/opt/server";
	uint32_t frame[2], stack, row, index;

	module.path = path;
	CHECK_EQ(profile_open(profile), 0);
	profile->meta.interval = INTERVAL;
	profile->meta.duration_ns = 7;
	profile->meta.start_unix_ns = 1700000000000000000ull;
	profile->meta.comm = strdup("bad\xff\nname");
	CHECK_EQ(profile_add_module(profile, &module, &index), 0);
	CHECK_EQ(profile_frame_at(profile, LO + 0x100, 0, &frame[0]), 0);
	CHECK_EQ(profile_frame_at(profile, 0x1234, -1, &frame[1]), 0);
	struct profile_frame *named = &profile->frame[frame[0]];
	named->line = calloc(2, sizeof(*named->line));
	named->line_count = 2;
	named->line[0] = (struct profile_line){
		.function = strdup("inner"), .file = strdup("a.c"), .line = 7};
	named->line[1] = (struct profile_line){.function = strdup("outer"),
					       .system_name = strdup("_Z5outer"),
					       .file = strdup("a.c"),
					       .line = 9};
	CHECK_EQ(profile_stack_of(profile, frame, 2, 0, &stack), 0);
	CHECK_EQ(profile_row_at(profile,
				&(struct profile_row_key){stack, 48, profile->meta.interval,
							  PROFILE_NEW, 0},
				&row),
		 0);
	profile->row[row].alloc_count = 3;
	profile->row[row].alloc_bytes = 144;
	profile->row[row].inuse_count = 1;
	profile->row[row].inuse_bytes = 48;
}

UNIT_TEST(sample_types)
{
	static const char *const expected[] = {"alloc_objects", "count", "alloc_space", "bytes",
					       "inuse_objects", "count", "inuse_space", "bytes"};
	static struct parsed parsed;
	struct profile profile;

	make_profile(&profile);
	write_and_parse(&profile, &parsed);
	CHECK_STR(string_of(&parsed, 0), "");
	for (size_t i = 0; i < 4; i++) {
		CHECK_STR(string_of(&parsed, inner(top(&parsed, 1, i), 1, 0).value),
			  expected[2 * i]);
		CHECK_STR(string_of(&parsed, inner(top(&parsed, 1, i), 2, 0).value),
			  expected[2 * i + 1]);
	}
	CHECK_EQ(top(&parsed, 1, 4).number, 0);
	CHECK_STR(string_of(&parsed, inner(top(&parsed, 11, 0), 1, 0).value), "space");
	CHECK_STR(string_of(&parsed, inner(top(&parsed, 11, 0), 2, 0).value), "bytes");
	CHECK_EQ(top(&parsed, 12, 0).value, INTERVAL);
	CHECK_STR(string_of(&parsed, top(&parsed, 14, 0).value), "inuse_space");
	CHECK_EQ(top(&parsed, 9, 0).value, 1700000000000000000ull);
	CHECK_EQ(top(&parsed, 10, 0).value, 7);
	profile_close(&profile);
}

UNIT_TEST(values_are_estimates)
{
	static struct parsed parsed;
	struct profile profile;

	make_profile(&profile);
	write_and_parse(&profile, &parsed);
	const struct field sample = top(&parsed, 2, 0), values = inner(sample, 2, 0),
			   label = inner(sample, 3, 0);
	const uint8_t *at = values.bytes;
	for (int type = 0; type < SAMPLE_TYPES_ALWAYS; type++)
		CHECK_EQ(take_varint(&at),
			 estimate_round(estimate_total(&profile, (enum sample_type)type).value));
	CHECK(at == values.bytes + values.value);
	CHECK_STR(string_of(&parsed, inner(label, 1, 0).value), "bytes");
	CHECK_EQ(inner(label, 3, 0).value, 48);
	CHECK_EQ(top(&parsed, 2, 1).number, 0);
	profile_close(&profile);
}

static void name_thread(struct profile *profile, uint32_t number, uint32_t tid, const char *name)
{
	struct {
		struct hi_stream_thread record;
		char name[32];
	} named = {.record = {.thread = number, .tid = tid, .name_size = (uint32_t)strlen(name)}};

	memcpy(named.name, name, strlen(name));
	CHECK_EQ(thread_breakdown_name(&profile->breakdown, &named.record), 0);
}

/* One block more, live or not, of 48 bytes in the only row. */
static void add_block(struct profile *profile, uint32_t number, bool is_live)
{
	uint32_t part;

	CHECK_EQ(thread_breakdown_at(&profile->breakdown, 0, number, &part), 0);
	profile->breakdown.part[part].alloc_count++;
	profile->breakdown.part[part].alloc_bytes += 48;
	profile->breakdown.part[part].inuse_count += is_live;
	profile->breakdown.part[part].inuse_bytes += is_live ? 48 : 0;
}

static uint64_t value_at(struct field sample, unsigned int type)
{
	const uint8_t *at = inner(sample, 2, 0).bytes;

	while (type--)
		take_varint(&at);
	return take_varint(&at);
}

UNIT_TEST(threads_have_samples_of_their_own)
{
	static struct parsed parsed;
	struct profile profile;

	make_profile(&profile);
	name_thread(&profile, 1, 4711, "ma\xffn");
	name_thread(&profile, 2, 4712, "pool");
	add_block(&profile, 1, true);
	add_block(&profile, 2, false);
	add_block(&profile, 3, false); /* of which nothing was named */
	write_and_parse(&profile, &parsed);
	CHECK_EQ(top(&parsed, 2, 3).number, 0);
	for (unsigned int i = 0; i < 3; i++) {
		const struct field sample = top(&parsed, 2, i);

		CHECK_EQ(value_at(sample, ALLOC_OBJECTS),
			 estimate_round(estimate_total(&profile, ALLOC_OBJECTS).value / 3));
		CHECK_EQ(value_at(sample, INUSE_SPACE),
			 i == 0 ? estimate_round(estimate_total(&profile, INUSE_SPACE).value) : 0);
		CHECK_EQ(inner(sample, 1, 0).value, inner(top(&parsed, 2, 0), 1, 0).value);
		CHECK_EQ(inner(sample, 3, 1).number, i < 2 ? 3 : 0);
	}
	const struct field name = inner(top(&parsed, 2, 0), 3, 1),
			   tid = inner(top(&parsed, 2, 1), 3, 2);
	CHECK_STR(string_of(&parsed, inner(name, 1, 0).value), "thread");
	CHECK_STR(string_of(&parsed, inner(name, 2, 0).value), "ma?n");
	CHECK_STR(string_of(&parsed, inner(tid, 1, 0).value), "thread_id");
	CHECK_STR(string_of(&parsed, inner(tid, 2, 0).value), "4712");
	profile_close(&profile);
}

/*
 * The first ones are told apart, the others by name, as far as there are not too many of those
 * either.
 */
UNIT_TEST(a_crowd_of_threads_makes_no_large_file)
{
	const uint32_t crowd = 100000;
	struct profile profile;
	uint64_t blocks = 0;
	char name[32];
	size_t size;

	make_profile(&profile);
	for (uint32_t number = 1; number <= crowd; number++) {
		snprintf(name, sizeof(name), "worker-%u",
			 number % (number < 4000 || number % 2 ? 1000 : 5000));
		name_thread(&profile, number, 10000 + number, name);
		add_block(&profile, number, true);
		for (uint32_t row = 1; row <= 4; row++) /* which comes by other rows, too */
			CHECK_EQ(thread_breakdown_at(
					 &profile.breakdown,
					 1 + (uint32_t)(hash_number((uint64_t)number * 4 + row) %
							1000),
					 number, &(uint32_t){0}),
				 0);
	}
	CHECK(profile.breakdown.thread_count <= 1 + BREAKDOWN_THREADS_MAX + BREAKDOWN_NAMES_MAX);
	CHECK(profile.breakdown.count <= BREAKDOWN_PARTS_MAX + 1001);
	for (size_t i = 0; i < profile.breakdown.count; i++)
		blocks += profile.breakdown.part[i].alloc_count;
	CHECK_EQ(blocks, crowd);
	profile.row[0] = (struct profile_row){.key = profile.row[0].key,
					      .alloc_count = crowd,
					      .alloc_bytes = crowd * 48ull,
					      .inuse_count = crowd,
					      .inuse_bytes = crowd * 48ull};
	FILE *file = memory_file();
	CHECK_EQ(pprof_write(&profile, file), 0);
	free(text_of(file, &size));
	fclose(file);
	CHECK(size < 64u << 10);
	profile_close(&profile);
}

/* As Go's allocs asks for bytes that were allocated. */
UNIT_TEST(the_type_that_is_shown_first)
{
	static struct parsed parsed;
	struct profile profile;

	make_profile(&profile);
	profile.meta.default_type = ALLOC_SPACE + 1;
	write_and_parse(&profile, &parsed);
	CHECK_STR(string_of(&parsed, top(&parsed, 14, 0).value), "alloc_space");
	profile_close(&profile);
}

/* As pprof -diff_base has it: values with their sign, and a label that says which are the base. */
UNIT_TEST(rows_of_the_base_are_negative)
{
	static struct parsed parsed;
	struct profile profile;
	int64_t value[SAMPLE_TYPES_ALWAYS];

	make_profile(&profile);
	write_and_parse(&profile, &parsed);
	for (unsigned int type = 0; type < SAMPLE_TYPES_ALWAYS; type++)
		value[type] = (int64_t)value_at(top(&parsed, 2, 0), type);
	profile.row[0].key.side = PROFILE_BASE;
	write_and_parse(&profile, &parsed);
	const struct field sample = top(&parsed, 2, 0);
	for (unsigned int type = 0; type < SAMPLE_TYPES_ALWAYS; type++) {
		CHECK(value[type] > 0);
		CHECK_EQ((int64_t)value_at(sample, type), -value[type]);
	}
	CHECK_STR(string_of(&parsed, inner(inner(sample, 3, 1), 1, 0).value), "pprof::base");
	CHECK_STR(string_of(&parsed, inner(inner(sample, 3, 1), 2, 0).value), "true");
	profile_close(&profile);
}

UNIT_TEST(locations_are_calls)
{
	static struct parsed parsed;
	struct profile profile;

	make_profile(&profile);
	write_and_parse(&profile, &parsed);
	const struct field named = top(&parsed, 4, 0), bare = top(&parsed, 4, 1);
	CHECK_EQ(inner(named, 1, 0).value, 1);
	CHECK_EQ(inner(named, 2, 0).value, 1);
	CHECK_EQ(inner(named, 3, 0).value, LO + 0xff);
	CHECK_EQ(inner(bare, 1, 0).value, 2);
	CHECK_EQ(inner(bare, 2, 0).number, 0);
	CHECK_EQ(inner(bare, 3, 0).value, 0x1233);
	CHECK_EQ(inner(bare, 4, 0).number, 0);

	const struct field innermost = top(&parsed, 5, inner(inner(named, 4, 0), 1, 0).value - 1);
	const struct field physical = top(&parsed, 5, inner(inner(named, 4, 1), 1, 0).value - 1);
	CHECK_EQ(inner(inner(named, 4, 0), 2, 0).value, 7);
	CHECK_STR(string_of(&parsed, inner(innermost, 2, 0).value), "inner");
	CHECK_STR(string_of(&parsed, inner(physical, 2, 0).value), "outer");
	CHECK_STR(string_of(&parsed, inner(physical, 3, 0).value), "_Z5outer");
	CHECK_STR(string_of(&parsed, inner(physical, 4, 0).value), "a.c");
	profile_close(&profile);
}

UNIT_TEST(mappings)
{
	static struct parsed parsed;
	struct profile profile;

	make_profile(&profile);
	write_and_parse(&profile, &parsed);
	const struct field mapping = top(&parsed, 3, 0);
	CHECK_EQ(inner(mapping, 1, 0).value, 1);
	CHECK_EQ(inner(mapping, 2, 0).value, LO);
	CHECK_EQ(inner(mapping, 3, 0).value, LO + 0x1000);
	CHECK_EQ(inner(mapping, 4, 0).value, 0x1000);
	CHECK_STR(string_of(&parsed, inner(mapping, 5, 0).value), "/opt/server");
	CHECK_STR(string_of(&parsed, inner(mapping, 6, 0).value), "dead");
	for (unsigned int has = 7; has <= 10; has++)
		CHECK_EQ(inner(mapping, has, 0).value, 1);
	profile_close(&profile);
}

UNIT_TEST(comments_are_printable)
{
	static struct parsed parsed;
	struct profile profile;
	bool found = false;

	make_profile(&profile);
	write_and_parse(&profile, &parsed);
	for (size_t i = 0; top(&parsed, 13, i).number; i++)
		found = found ||
			strstr(string_of(&parsed, top(&parsed, 13, i).value), "(bad??name)");
	CHECK(found);
	profile_close(&profile);
}

static bool has_comment(const struct profile *profile, const char *text)
{
	static struct parsed parsed;
	bool found = false;

	write_and_parse(profile, &parsed);
	for (size_t i = 0; top(&parsed, 13, i).number; i++)
		found |=
			!strncmp(string_of(&parsed, top(&parsed, 13, i).value), text, strlen(text));
	return found;
}

UNIT_TEST(a_comment_says_with_which_intervals_samples_were_drawn)
{
	struct profile profile;
	struct profile_row_key key;
	uint32_t row;

	make_profile(&profile);
	CHECK(has_comment(&profile, "one sample per 65536 bytes, "));
	CHECK(!has_comment(&profile, "the rate changed"));
	/* with one sample that was drawn with a coarser one */
	key = profile.row[0].key;
	key.interval = 4194304;
	CHECK_EQ(profile_row_at(&profile, &key, &row), 0);
	profile.row[row].alloc_count = 1;
	profile.row[row].alloc_bytes = 48;
	CHECK(has_comment(&profile, "one sample per 65536 to 4194304 bytes, "));
	CHECK(has_comment(&profile, "the rate changed"));
	/* and with one of which each allocation is a sample */
	key.interval = 1;
	CHECK_EQ(profile_row_at(&profile, &key, &row), 0);
	profile.row[row].alloc_count = 1;
	profile.row[row].alloc_bytes = 48;
	CHECK(has_comment(&profile, "one sample per 1 to 4194304 bytes, "));
	profile_close(&profile);
}

UNIT_TEST(without_samples_the_intervals_are_those_that_were_set)
{
	struct profile profile;

	CHECK_EQ(profile_open(&profile), 0);
	profile.meta.interval = INTERVAL;
	CHECK(has_comment(&profile, "one sample per 65536 bytes, "));
	profile_add_change(&profile.meta, &(struct profile_change){.interval = 65536});
	profile_add_change(&profile.meta,
			   &(struct profile_change){.time_ns = 5, .interval = 131072});
	CHECK(has_comment(&profile, "one sample per 65536 to 131072 bytes, "));
	profile_close(&profile);
}

UNIT_TEST(varints_and_defaults)
{
	static const uint64_t values[] = {1, 127, 128, 300, 1ull << 63, UINT64_MAX};
	struct protobuf message = {0};
	const uint8_t *at;

	protobuf_number(&message, 3, 0);
	CHECK_EQ(message.size, 0);
	protobuf_packed(&message, 2, values, 6);
	const struct field field =
		inner((struct field){.value = message.size, .bytes = message.bytes}, 2, 0);
	at = field.bytes;
	for (size_t i = 0; i < 6; i++)
		CHECK_EQ(take_varint(&at), values[i]);
	CHECK(at == field.bytes + field.value);
	protobuf_close(&message);
}

UNIT_MAIN()
