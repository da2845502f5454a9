/* SPDX-License-Identifier: MIT */
/*
 * otlp_test.c - a pprof profile by hand as a request of OTLP, which is taken apart by a reader of
 * the wire format that shares no code with the writer (wire_fields.h). The numbers here are copied
 * from opentelemetry-proto, not from otlp_fields.h. The integration case `push` has the same read
 * by protobuf's own library.
 */
#include "unit.h"

#include <errno.h>

#include "hi_otlp.h"
#include "mapping_rows.h"
#include "pool_rows.h"
#include "pprof.h"
#include "protobuf.h"
#include "sample_profile.h"
#include "sample_types.h"
#include "wire_fields.h"

/* ---- the profile ----------------------------------------------------------------------------- */

/* Strings by number. */
enum {
	NONE,
	OBJECTS,
	COUNT,
	SPACE,
	BYTES,
	MAIN,
	WORK,
	UNUSED,
	SOURCE,
	PROGRAM,
	BUILD_ID,
	THREAD,
	THREAD_ID,
	WORKER,
	TID,
	KEY_BYTES,
	COMMENT,
	STRINGS
};
static const char *const string[STRINGS] = {
	"",          "inuse_objects", "count",  "inuse_space", "bytes",    "main",
	"work",      "unused",        "file.c", "/bin/app",    "00ff",     "thread",
	"thread_id", "worker",        "4711",   "bytes",       "a comment"};

static void put(struct protobuf *profile, unsigned int field, struct protobuf *part)
{
	protobuf_message(profile, field, part);
	protobuf_close(part);
}

/* Numbers as fields 1, 2, ... */
static void put_numbers(struct protobuf *profile, unsigned int field, const uint64_t *number,
			size_t count)
{
	struct protobuf part = {0};

	for (size_t i = 0; i < count; i++)
		protobuf_number(&part, (unsigned int)i + 1, number[i]);
	put(profile, field, &part);
}

#define NUMBERS(profile, field, ...)                                 \
	put_numbers(profile, field, (const uint64_t[]){__VA_ARGS__}, \
		    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void put_location(struct protobuf *profile, uint64_t id, uint64_t function, uint64_t line)
{
	struct protobuf part = {0};

	protobuf_number(&part, 1, id);
	protobuf_number(&part, 2, 1);
	protobuf_number(&part, 3, 0x1000 * id);
	NUMBERS(&part, 4, function, line);
	put(profile, 4, &part);
}

static void put_text_label(struct protobuf *sample, uint64_t key, uint64_t text)
{
	NUMBERS(sample, 3, key, text);
}

/* Of a block of that size, by the thread if it has one. */
static void put_sample(struct protobuf *profile, const uint64_t *location, size_t depth,
		       uint64_t objects, uint64_t bytes, bool has_thread)
{
	struct protobuf part = {0};

	protobuf_packed(&part, 1, location, depth);
	protobuf_packed(&part, 2, (const uint64_t[]){objects, bytes}, 2);
	NUMBERS(&part, 3, KEY_BYTES, 0, 64, BYTES);
	if (has_thread) {
		put_text_label(&part, THREAD, WORKER);
		put_text_label(&part, THREAD_ID, TID);
	}
	put(profile, 2, &part);
}

static void put_strings(struct protobuf *profile)
{
	for (size_t i = 0; i < STRINGS; i++)
		protobuf_string(profile, 6, string[i]);
}

static void put_tables(struct protobuf *profile)
{
	NUMBERS(profile, 3, 1, 0x1000, 0x9000, 0x200, PROGRAM, BUILD_ID);
	put_location(profile, 1, 2, 20);
	put_location(profile, 2, 1, 10);
	NUMBERS(profile, 5, 1, MAIN, MAIN, SOURCE);
	NUMBERS(profile, 5, 2, WORK, WORK, SOURCE);
	NUMBERS(profile, 5, 3, UNUSED, UNUSED, SOURCE);
}

/* work by main: 2 + 3 objects by one thread, 1 without; main: 1. */
static struct protobuf profile_of(void)
{
	static const uint64_t work[] = {1, 2};
	struct protobuf profile = {0};

	NUMBERS(&profile, 1, OBJECTS, COUNT);
	NUMBERS(&profile, 1, SPACE, BYTES);
	put_sample(&profile, work, 2, 2, 128, true);
	put_sample(&profile, work, 2, 3, 192, true);
	put_sample(&profile, work, 2, 1, 64, false);
	put_sample(&profile, work + 1, 1, 0, 64, false);
	put_tables(&profile);
	put_strings(&profile);
	NUMBERS(&profile, 11, SPACE, BYTES);
	protobuf_number(&profile, 13, COMMENT);
	protobuf_number(&profile, 14, SPACE);
	return profile;
}

/* ---- the request ----------------------------------------------------------------------------- */

static size_t count_of(struct field message, unsigned int number)
{
	size_t count = 0;

	while (inner(message, number, count).number)
		count++;
	return count;
}

static uint64_t number_of(struct field message, unsigned int number)
{
	return inner(message, number, 0).value;
}

static bool is_text(struct field field, const char *text)
{
	return field.bytes && field.value == strlen(text) &&
	       !memcmp(field.bytes, text, strlen(text));
}

/* The nth of packed numbers. */
static uint64_t packed(struct field field, size_t n)
{
	const uint8_t *at = field.bytes;
	uint64_t value = 0;

	CHECK(at);
	for (size_t i = 0; i <= n; i++) {
		CHECK(at < field.bytes + field.value);
		value = take_varint(&at);
	}
	return value;
}

struct request {
	uint8_t *bytes;
	struct field dictionary, resource, scope;
};

enum { MAPPINGS = 1, LOCATIONS, FUNCTIONS, LINKS, TEXTS, ATTRIBUTES, STACKS };

static struct request request_of(struct protobuf *profile)
{
	static const struct hi_otlp_attribute attribute[] = {{"service.name", "app", 0},
							     {"process.pid", NULL, 4711}};
	const struct hi_otlp_origin origin = {.attribute = attribute,
					      .attribute_count = 2,
					      .unix_ns = 1234567890123456789u,
					      .id = {1, [15] = 0x10}};
	struct request request;
	size_t size;

	CHECK(!profile->failed);
	CHECK_EQ(hi_otlp_request(profile->bytes, profile->size, &origin, &request.bytes, &size), 0);
	const struct field all = {.value = size, .bytes = request.bytes};
	CHECK_EQ(count_of(all, 1), 1);
	CHECK_EQ(count_of(all, 2), 1);
	request.dictionary = inner(all, 2, 0);
	request.resource = inner(inner(all, 1, 0), 1, 0);
	request.scope = inner(inner(all, 1, 0), 2, 0);
	protobuf_close(profile);
	return request;
}

static struct request request_of_all(void)
{
	struct protobuf profile = profile_of();

	return request_of(&profile);
}

static struct field entry(const struct request *request, unsigned int table, uint64_t index)
{
	const struct field field = inner(request->dictionary, table, index);

	CHECK(field.number);
	return field;
}

static struct field text(const struct request *request, uint64_t index)
{
	return entry(request, TEXTS, index);
}

/* The profile whose type has that name, and its unit. */
static struct field profile_named(const struct request *request, const char *type, const char *unit)
{
	for (size_t i = 0; i < count_of(request->scope, 2); i++) {
		const struct field profile = inner(request->scope, 2, i);
		const struct field value_type = inner(profile, 1, 0);

		if (is_text(text(request, number_of(value_type, 1)), type)) {
			CHECK(is_text(text(request, number_of(value_type, 2)), unit));
			return profile;
		}
	}
	CHECK(!"no such type");
	return (struct field){0};
}

static bool has_text(const struct request *request, const char *wanted)
{
	for (size_t i = 0; i < count_of(request->dictionary, TEXTS); i++)
		if (is_text(text(request, i), wanted))
			return true;
	return false;
}

/* The attribute with that name of those of a message, by their field. */
static struct field attribute_named(const struct request *request, struct field indices,
				    const char *name, struct field *out_unit)
{
	const uint8_t *at = indices.bytes;

	while (at < indices.bytes + indices.value) {
		const struct field attribute = entry(request, ATTRIBUTES, take_varint(&at));

		if (is_text(text(request, number_of(attribute, 1)), name)) {
			*out_unit = text(request, number_of(attribute, 3));
			return inner(attribute, 2, 0);
		}
	}
	return (struct field){0};
}

/* ---- cases ----------------------------------------------------------------------------------- */

UNIT_TEST(entry_0_of_each_table_is_the_zero_value)
{
	const struct request request = request_of_all();

	for (unsigned int table = MAPPINGS; table <= STACKS; table++)
		CHECK_EQ(entry(&request, table, 0).value, 0);
	CHECK_EQ(count_of(request.dictionary, LINKS), 1);
	free(request.bytes);
}

UNIT_TEST(each_sample_type_is_a_profile_and_the_default_one_is_first)
{
	const struct request request = request_of_all();

	CHECK_EQ(count_of(request.scope, 2), 2);
	CHECK(inner(request.scope, 2, 0).bytes ==
	      profile_named(&request, "inuse_space", "bytes").bytes);
	CHECK(profile_named(&request, "inuse_objects", "count").bytes);
	free(request.bytes);
}

/* Two of the four samples are alike, and one has no objects. */
UNIT_TEST(values_are_those_of_the_samples)
{
	const struct request request = request_of_all();
	const struct field space = profile_named(&request, "inuse_space", "bytes");
	const struct field objects = profile_named(&request, "inuse_objects", "count");

	CHECK_EQ(count_of(space, 2), 3);
	CHECK_EQ(packed(inner(inner(space, 2, 0), 4, 0), 0), 320);
	CHECK_EQ(packed(inner(inner(space, 2, 1), 4, 0), 0), 64);
	CHECK_EQ(packed(inner(inner(space, 2, 2), 4, 0), 0), 64);
	CHECK_EQ(inner(inner(space, 2, 0), 4, 0).value, 2);
	CHECK_EQ(count_of(objects, 2), 2);
	CHECK_EQ(packed(inner(inner(objects, 2, 0), 4, 0), 0), 5);
	CHECK_EQ(packed(inner(inner(objects, 2, 1), 4, 0), 0), 1);
	free(request.bytes);
}

static int64_t sum_of(struct field profile)
{
	int64_t sum = 0;

	for (size_t i = 0; i < count_of(profile, 2); i++)
		sum += (int64_t)packed(inner(inner(profile, 2, i), 4, 0), 0);
	return sum;
}

static void fill(struct profile_row *row, uint64_t bytes)
{
	row->alloc_count = 3;
	row->alloc_bytes = 3 * bytes;
	row->inuse_count = 2;
	row->inuse_bytes = 2 * bytes;
	row->resident_bytes = bytes;
	row->swapped_bytes = bytes / 2;
}

/* One that has all types: of blocks, of mappings, and of blocks of pools. */
static struct protobuf profile_of_all_types(void)
{
	struct profile profile = sample_open();
	struct profile_row *row =
		sample_row(&profile, (uint32_t[]){sample_frame(&profile, "f")}, 1, 1000);
	struct profile_row_key key = row->key;
	struct protobuf message = {0};
	uint32_t index;

	fill(row, 1000);
	CHECK_EQ(profile_mapping_at(&profile, &key, &index), 0);
	fill(&profile.mapping[index], 4096);
	CHECK_EQ(profile_pooled_at(&profile, &key, &index), 0);
	fill(&profile.pooled[index], 10);
	profile.has_mappings = profile.has_pooled = true;
	profile.meta.residency = profile.mapping_residency = PROFILE_RESIDENCY_KNOWN;
	CHECK_EQ(pprof_message(&profile, &message), 0);
	profile_close(&profile);
	return message;
}

/* What the .pb.gz has is there: each type with its sum, and nothing else. */
UNIT_TEST(mappings_and_pools_have_their_profiles)
{
	static const struct {
		const char *type, *unit;
		int64_t sum;
	} wanted[] = {
		{"alloc_objects", "count", 3},
		{"alloc_space", "bytes", 3000},
		{"inuse_objects", "count", 2},
		{"inuse_space", "bytes", 2000},
		{"resident_space", "bytes", 1000},
		{"swapped_space", "bytes", 500},
		{"mmap_objects", "count", 3},
		{"mmap_space", "bytes", 12288},
		{"inuse_mmap_objects", "count", 2},
		{"inuse_mmap_space", "bytes", 8192},
		{"resident_mmap_space", "bytes", 4096},
		{"pool_objects", "count", 3},
		{"pool_space", "bytes", 30},
		{"inuse_pool_objects", "count", 2},
		{"inuse_pool_space", "bytes", 20},
	};
	struct protobuf profile = profile_of_all_types();
	const struct request request = request_of(&profile);
	const size_t count = sizeof(wanted) / sizeof(*wanted);

	CHECK_EQ(count, SAMPLE_TYPE_COUNT + MAPPING_TYPES + POOL_TYPES);
	CHECK_EQ(count_of(request.scope, 2), count);
	for (size_t i = 0; i < count; i++)
		CHECK_EQ(sum_of(profile_named(&request, wanted[i].type, wanted[i].unit)),
			 wanted[i].sum);
	free(request.bytes);
}

static struct field location_of(const struct request *request, struct field sample, size_t n)
{
	const struct field stack = entry(request, STACKS, number_of(sample, 1));

	return entry(request, LOCATIONS, packed(inner(stack, 1, 0), n));
}

static struct field function_of(const struct request *request, struct field location)
{
	return entry(request, FUNCTIONS, number_of(inner(location, 3, 0), 1));
}

UNIT_TEST(stacks_have_their_functions_leaf_first)
{
	const struct request request = request_of_all();
	const struct field space = profile_named(&request, "inuse_space", "bytes");
	const struct field sample = inner(space, 2, 0);
	const struct field leaf = location_of(&request, sample, 0);
	const struct field root = location_of(&request, sample, 1);
	const struct field work = function_of(&request, leaf);

	CHECK(is_text(text(&request, number_of(work, 1)), "work"));
	CHECK(is_text(text(&request, number_of(work, 2)), "work"));
	CHECK(is_text(text(&request, number_of(work, 3)), "file.c"));
	CHECK_EQ(number_of(inner(leaf, 3, 0), 2), 20);
	CHECK_EQ(number_of(leaf, 2), 0x1000);
	CHECK(is_text(text(&request, number_of(function_of(&request, root), 1)), "main"));
	/* the same stack is there once */
	CHECK_EQ(number_of(inner(space, 2, 1), 1), number_of(sample, 1));
	CHECK_EQ(count_of(request.dictionary, STACKS), 3);
	free(request.bytes);
}

UNIT_TEST(a_mapping_has_its_build_id_as_an_attribute)
{
	const struct request request = request_of_all();
	const struct field space = profile_named(&request, "inuse_space", "bytes");
	const struct field leaf = location_of(&request, inner(space, 2, 0), 0);
	const struct field mapping = entry(&request, MAPPINGS, number_of(leaf, 1));
	struct field unit;

	CHECK_EQ(number_of(mapping, 1), 0x1000);
	CHECK_EQ(number_of(mapping, 2), 0x9000);
	CHECK_EQ(number_of(mapping, 3), 0x200);
	CHECK(is_text(text(&request, number_of(mapping, 4)), "/bin/app"));
	CHECK(is_text(inner(attribute_named(&request, inner(mapping, 5, 0),
					    "process.executable.build_id.gnu", &unit),
			    1, 0),
		      "00ff"));
	free(request.bytes);
}

UNIT_TEST(only_what_is_used_is_there)
{
	const struct request request = request_of_all();

	CHECK(has_text(&request, "work"));
	CHECK(!has_text(&request, "unused"));
	CHECK_EQ(count_of(request.dictionary, FUNCTIONS), 3);
	free(request.bytes);
}

UNIT_TEST(labels_are_attributes)
{
	const struct request request = request_of_all();
	const struct field space = profile_named(&request, "inuse_space", "bytes");
	const struct field indices = inner(inner(space, 2, 0), 2, 0);
	struct field unit;

	CHECK(is_text(inner(attribute_named(&request, indices, "thread.name", &unit), 1, 0),
		      "worker"));
	CHECK_EQ(number_of(attribute_named(&request, indices, "thread.id", &unit), 3), 4711);
	CHECK_EQ(unit.value, 0);
	CHECK_EQ(number_of(attribute_named(&request, indices, "bytes", &unit), 3), 64);
	CHECK(is_text(unit, "bytes"));
	CHECK(!attribute_named(&request, inner(inner(space, 2, 1), 2, 0), "thread.id", &unit)
		       .number);
	free(request.bytes);
}

/* Pyroscope refuses a period of 0. */
UNIT_TEST(what_is_said_of_each_profile)
{
	const struct request request = request_of_all();
	struct field unit;

	for (size_t i = 0; i < 2; i++) {
		const struct field profile = inner(request.scope, 2, i);
		const struct field comments = attribute_named(&request, inner(profile, 11, 0),
							      "pprof.profile.comment", &unit);

		CHECK_EQ(number_of(profile, 3), 1234567890123456789u);
		CHECK(!inner(profile, 4, 0).number);
		CHECK(is_text(text(&request, number_of(inner(profile, 5, 0), 1)), "inuse_space"));
		CHECK_EQ(number_of(profile, 6), 1);
		CHECK_EQ(inner(profile, 7, 0).value, HI_OTLP_ID_SIZE);
		CHECK_EQ(inner(profile, 7, 0).bytes[0], 1);
		CHECK(is_text(inner(inner(inner(comments, 5, 0), 1, 0), 1, 0), "a comment"));
	}
	CHECK(memcmp(inner(inner(request.scope, 2, 0), 7, 0).bytes,
		     inner(inner(request.scope, 2, 1), 7, 0).bytes, HI_OTLP_ID_SIZE) != 0);
	free(request.bytes);
}

UNIT_TEST(the_resource_has_texts_and_numbers)
{
	const struct request request = request_of_all();

	CHECK(is_text(inner(inner(request.resource, 1, 0), 1, 0), "service.name"));
	CHECK(is_text(inner(inner(inner(request.resource, 1, 0), 2, 0), 1, 0), "app"));
	CHECK(is_text(inner(inner(request.resource, 1, 1), 1, 0), "process.pid"));
	CHECK_EQ(number_of(inner(inner(request.resource, 1, 1), 2, 0), 3), 4711);
	CHECK(is_text(inner(inner(request.scope, 1, 0), 1, 0), "heapinject"));
	free(request.bytes);
}

UNIT_TEST(a_number_of_0_and_a_stack_of_nothing)
{
	struct protobuf profile = {0}, part = {0};
	struct field unit;

	NUMBERS(&profile, 1, SPACE, BYTES);
	put_strings(&profile);
	/* neither stack nor label: the first sample, whose number is 0 */
	protobuf_packed(&part, 2, (const uint64_t[]){7}, 1);
	put(&profile, 2, &part);
	protobuf_packed(&part, 2, (const uint64_t[]){9}, 1);
	NUMBERS(&part, 3, KEY_BYTES, 0, 0, BYTES);
	put(&profile, 2, &part);
	const struct request request = request_of(&profile);
	const struct field space = profile_named(&request, "inuse_space", "bytes");

	CHECK_EQ(count_of(space, 2), 2);
	CHECK_EQ(packed(inner(inner(space, 2, 0), 4, 0), 0), 7);
	CHECK_EQ(number_of(inner(space, 2, 0), 1), 0);
	const struct field size =
		attribute_named(&request, inner(inner(space, 2, 1), 2, 0), "bytes", &unit);
	CHECK_EQ(inner(size, 3, 0).number, 3);
	CHECK_EQ(inner(size, 3, 0).value, 0);
	free(request.bytes);
}

static int refusal_of(struct protobuf *profile)
{
	const struct hi_otlp_origin origin = {0};
	uint8_t *bytes = NULL;
	size_t size;
	const int err = hi_otlp_request(profile->bytes, profile->size, &origin, &bytes, &size);

	if (!err)
		free(bytes);
	protobuf_close(profile);
	return err;
}

UNIT_TEST(what_is_no_profile_is_refused)
{
	static const uint64_t nowhere[] = {3};
	struct protobuf profile = profile_of();

	protobuf_close(&profile);
	CHECK_EQ(refusal_of(&profile), -EBADMSG);
	/* a location, a string and a value that are not there; ids in another order */
	profile = profile_of();
	put_sample(&profile, nowhere, 1, 1, 1, false);
	CHECK_EQ(refusal_of(&profile), -EBADMSG);
	profile = profile_of();
	protobuf_number(&profile, 13, STRINGS);
	CHECK_EQ(refusal_of(&profile), -EBADMSG);
	profile = profile_of();
	NUMBERS(&profile, 1, SPACE, BYTES);
	CHECK_EQ(refusal_of(&profile), -EBADMSG);
	profile = profile_of();
	put_location(&profile, 4, 1, 1);
	CHECK_EQ(refusal_of(&profile), -EBADMSG);
	/* the first string is to be empty */
	profile = (struct protobuf){0};
	protobuf_string(&profile, 6, "x");
	CHECK_EQ(refusal_of(&profile), -EBADMSG);
	profile = (struct protobuf){0};
	protobuf_string(&profile, 6, "");
	CHECK_EQ(refusal_of(&profile), 0);
}

/* Between two fields, it may be one. */
UNIT_TEST(a_profile_that_is_cut_off_does_no_harm)
{
	struct protobuf profile = profile_of();
	const struct hi_otlp_origin origin = {0};
	unsigned refused = 0;
	uint8_t *bytes;
	size_t size;

	for (size_t cut = 0; cut < profile.size; cut++) {
		uint8_t *copy = malloc(cut + 1);

		memcpy(copy, profile.bytes, cut);
		if (!hi_otlp_request(copy, cut, &origin, &bytes, &size))
			free(bytes);
		else
			refused++;
		free(copy);
	}
	CHECK(refused > profile.size / 2);
	protobuf_close(&profile);
}

/* ---- answers --------------------------------------------------------------------------------- */

UNIT_TEST(an_answer_says_what_was_rejected)
{
	/* partial_success = 1 { rejected_profiles = 1: 300, error_message = 2: "no\n" } */
	static const uint8_t partial[] = {0x0a, 8, 0x08, 0xac, 2, 0x12, 3, 'n', 'o', '\n'};
	struct hi_otlp_answer answer = {.rejected = 1, .text = "old"};

	CHECK_EQ(hi_otlp_read_response("", 0, &answer), 0);
	CHECK_EQ(answer.rejected, 0);
	CHECK_STR(answer.text, "");
	CHECK_EQ(hi_otlp_read_response(partial, sizeof(partial), &answer), 0);
	CHECK_EQ(answer.rejected, 300);
	CHECK_STR(answer.text, "no?");
	answer.rejected = 1;
	for (size_t cut = 1; cut < sizeof(partial); cut++)
		CHECK_EQ(hi_otlp_read_response(partial, cut, &answer), -EBADMSG);
	CHECK_EQ(answer.rejected, 1);
	CHECK_EQ(hi_otlp_read_response("\x08\x01", 2, &answer), -EBADMSG);
}

UNIT_TEST(an_error_has_a_text)
{
	/* code = 1: 8, message = 2 */
	static const char status[] = "\x08\x08\x12\x04"
				     "full";
	char longer[HI_OTLP_TEXT_MAX + 100];
	struct hi_otlp_answer answer;

	CHECK_EQ(hi_otlp_read_status(status, sizeof(status) - 1, &answer), 0);
	CHECK_STR(answer.text, "full");
	CHECK_EQ(answer.rejected, 0);
	CHECK_EQ(hi_otlp_read_status("{\"code\": 8}", 11, &answer), -EBADMSG);
	CHECK_EQ(hi_otlp_read_status("<html>", 6, &answer), -EBADMSG);
	memset(longer, 'x', sizeof(longer));
	memcpy(longer, "\x12\xf0\x01", 3);
	CHECK_EQ(hi_otlp_read_status(longer, 3 + 0xf0, &answer), 0);
	CHECK_EQ(strlen(answer.text), HI_OTLP_TEXT_MAX - 1);
}

UNIT_MAIN()
