/* SPDX-License-Identifier: MIT */
/*
 * otlp_fuzz.c - profiles of pprof's, not compressed, as requests of OTLP. In what is written each
 * table begins with the zero value, and each index is one of its table.
 *
 * libFuzzer: -max_len=8192
 */
#include "fuzz.h"
#include "hi_otlp.h"
#include "otlp_fields.h"
#include "protobuf.h"

#define TABLES 8u

static uint64_t count[TABLES]; /* entries, by the field of the table */

static void check_indices(const struct protobuf_field *field, unsigned int table)
{
	struct protobuf_rest rest = protobuf_inside(field);
	uint64_t index = field->value;

	FUZZ_CHECK(field->bytes || index < count[table]);
	while (field->bytes && !protobuf_next_number(&rest, &index))
		FUZZ_CHECK(index < count[table]);
}

/* Fields that are messages in which a field has indices of a table. */
static void check_message(const struct protobuf_field *message, unsigned int number,
			  unsigned int table)
{
	struct protobuf_rest rest = protobuf_inside(message);
	struct protobuf_field field;

	while (!protobuf_next(&rest, &field))
		if (field.number == number)
			check_indices(&field, table);
}

static void check_dictionary(const struct protobuf_field *dictionary)
{
	struct protobuf_rest rest = protobuf_inside(dictionary);
	struct protobuf_field field;

	memset(count, 0, sizeof(count));
	while (!protobuf_next(&rest, &field)) {
		FUZZ_CHECK(field.number < TABLES && field.bytes);
		FUZZ_CHECK(count[field.number]++ || !field.size);
	}
	for (unsigned int table = 1; table < TABLES; table++)
		FUZZ_CHECK(count[table]);
	rest = protobuf_inside(dictionary);
	while (!protobuf_next(&rest, &field)) {
		if (field.number == DICTIONARY_STACK_TABLE)
			check_message(&field, STACK_LOCATION_INDICES, DICTIONARY_LOCATION_TABLE);
		else if (field.number == DICTIONARY_LOCATION_TABLE)
			check_message(&field, OTLP_LOCATION_MAPPING_INDEX,
				      DICTIONARY_MAPPING_TABLE);
		else if (field.number == DICTIONARY_FUNCTION_TABLE)
			check_message(&field, OTLP_FUNCTION_NAME, DICTIONARY_STRING_TABLE);
		else if (field.number == DICTIONARY_ATTRIBUTE_TABLE)
			check_message(&field, ATTRIBUTE_KEY, DICTIONARY_STRING_TABLE);
	}
}

static void check_profiles(const struct protobuf_field *scope)
{
	struct protobuf_rest rest = protobuf_inside(scope), inside;
	struct protobuf_field profile, field;

	while (!protobuf_next(&rest, &profile)) {
		if (profile.number != SCOPE_PROFILES_PROFILES)
			continue;
		inside = protobuf_inside(&profile);
		while (!protobuf_next(&inside, &field)) {
			if (field.number != OTLP_PROFILE_SAMPLES)
				continue;
			check_message(&field, OTLP_SAMPLE_STACK_INDEX, DICTIONARY_STACK_TABLE);
			check_message(&field, OTLP_SAMPLE_ATTRIBUTE_INDICES,
				      DICTIONARY_ATTRIBUTE_TABLE);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hi_otlp_origin origin = {.unix_ns = 1};
	struct protobuf_field resource = {0}, dictionary = {0}, field;
	uint8_t *bytes;
	size_t out_size;

	if (hi_otlp_request(data, size, &origin, &bytes, &out_size))
		return 0;
	struct protobuf_rest rest = {.at = bytes, .end = bytes + out_size};
	FUZZ_CHECK(!protobuf_next(&rest, &resource) &&
		   resource.number == REQUEST_RESOURCE_PROFILES);
	FUZZ_CHECK(!protobuf_next(&rest, &dictionary) && dictionary.number == REQUEST_DICTIONARY);
	FUZZ_CHECK(rest.at == rest.end);
	check_dictionary(&dictionary);
	rest = protobuf_inside(&resource);
	while (!protobuf_next(&rest, &field))
		if (field.number == RESOURCE_PROFILES_SCOPE_PROFILES)
			check_profiles(&field);
	free(bytes);
	return 0;
}
