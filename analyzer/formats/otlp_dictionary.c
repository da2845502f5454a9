/* SPDX-License-Identifier: MIT */
/* otlp_dictionary.c - see otlp_dictionary.h. Start at otlp_dictionary_stack(). */
#include "otlp_dictionary.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "otlp_fields.h"
#include "pprof_fields.h"

/* Names of OpenTelemetry's semantic conventions. */
#define BUILD_ID_NAME "process.executable.build_id.gnu"
#define COMMENT_NAME "pprof.profile.comment"
#define THREAD_NAME_NAME "thread.name"
#define THREAD_ID_NAME "thread.id"

#define TID_DIGITS_MAX 10u

/* ---- strings and attributes ------------------------------------------------------------------ */

static uint64_t text_number(struct otlp_dictionary *dictionary, const char *text)
{
	return otlp_table_add(&dictionary->strings, text, strlen(text));
}

uint64_t otlp_dictionary_string(struct otlp_dictionary *dictionary, uint64_t string)
{
	struct otlp_source *source = dictionary->source;
	struct otlp_part *part = otlp_source_part(source, &source->strings, string);

	if (part && !part->has_number) {
		char *const text = otlp_source_text(source, string);

		part->number = text ? text_number(dictionary, text) : 0;
		part->has_number = true;
		free(text);
	}
	return part ? part->number : 0;
}

/* value: an AnyValue, which is closed. unit: a number of the dictionary. */
static uint64_t attribute_number(struct otlp_dictionary *dictionary, const char *name,
				 struct protobuf *value, uint64_t unit)
{
	struct protobuf attribute = {0};

	protobuf_number(&attribute, ATTRIBUTE_KEY, text_number(dictionary, name));
	protobuf_message(&attribute, ATTRIBUTE_VALUE, value);
	protobuf_number(&attribute, ATTRIBUTE_UNIT, unit);
	protobuf_close(value);
	return otlp_table_take(&dictionary->attributes, &attribute);
}

uint64_t otlp_dictionary_comments(struct otlp_dictionary *dictionary)
{
	const struct otlp_numbers *comments = &dictionary->source->comments;
	struct protobuf array = {0}, value = {0};

	for (size_t i = 0; i < comments->count; i++) {
		char *const text = otlp_source_text(dictionary->source, comments->number[i]);

		protobuf_reset(&value);
		protobuf_string(&value, ANY_STRING, text ? text : "");
		protobuf_message(&array, ARRAY_VALUES, &value);
		free(text);
	}
	protobuf_reset(&value);
	protobuf_message(&value, ANY_ARRAY, &array);
	protobuf_close(&array);
	if (comments->count)
		return attribute_number(dictionary, COMMENT_NAME, &value, 0);
	protobuf_close(&value);
	return 0;
}

/* ---- labels of samples ----------------------------------------------------------------------- */

struct label_numbers {
	uint64_t key, text, number, unit;
};

static struct label_numbers read_label(struct otlp_source *source,
				       const struct protobuf_field *field)
{
	struct protobuf_rest rest = protobuf_inside(field);
	struct label_numbers label = {0};
	struct protobuf_field part;

	while (otlp_source_next(source, &rest, &part)) {
		if (part.number == LABEL_KEY)
			label.key = part.value;
		else if (part.number == LABEL_STR)
			label.text = part.value;
		else if (part.number == LABEL_NUM)
			label.number = part.value;
		else if (part.number == LABEL_NUM_UNIT)
			label.unit = part.value;
	}
	return label;
}

static bool is_tid(const char *text)
{
	const size_t size = strlen(text);

	for (size_t i = 0; i < size; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return size && size <= TID_DIGITS_MAX;
}

/* Those of ours for threads get the names and kinds that OpenTelemetry has for them. */
static uint64_t text_label(struct otlp_dictionary *dictionary, const char *key, const char *text)
{
	struct protobuf value = {0};

	if (!strcmp(key, "thread_id") && is_tid(text)) {
		protobuf_oneof_number(&value, ANY_INT, strtoull(text, NULL, 10));
		return attribute_number(dictionary, THREAD_ID_NAME, &value, 0);
	}
	protobuf_string(&value, ANY_STRING, text);
	return attribute_number(dictionary, strcmp(key, "thread") ? key : THREAD_NAME_NAME, &value,
				0);
}

uint64_t otlp_dictionary_label(struct otlp_dictionary *dictionary,
			       const struct protobuf_field *field)
{
	struct otlp_source *source = dictionary->source;
	const struct label_numbers label = read_label(source, field);
	char *const key = otlp_source_text(source, label.key);
	char *const text = label.text ? otlp_source_text(source, label.text) : NULL;
	struct protobuf value = {0};
	uint64_t number = 0;

	if (key && *key && text) {
		number = text_label(dictionary, key, text);
	} else if (key && *key && !source->err) {
		protobuf_oneof_number(&value, ANY_INT, label.number);
		number = attribute_number(dictionary, key, &value,
					  otlp_dictionary_string(dictionary, label.unit));
	}
	free(key);
	free(text);
	return number;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static uint64_t build_id_number(struct otlp_dictionary *dictionary, uint64_t string)
{
	char *const text = otlp_source_text(dictionary->source, string);
	struct protobuf value = {0};
	uint64_t number = 0;

	if (text && *text) {
		protobuf_string(&value, ANY_STRING, text);
		number = attribute_number(dictionary, BUILD_ID_NAME, &value, 0);
	}
	free(text);
	return number;
}

static void put_mapping_field(struct otlp_dictionary *dictionary, struct protobuf *message,
			      const struct protobuf_field *field)
{
	uint64_t number;

	switch (field->number) {
	case MAPPING_START:
		protobuf_number(message, OTLP_MAPPING_START, field->value);
		break;
	case MAPPING_LIMIT:
		protobuf_number(message, OTLP_MAPPING_LIMIT, field->value);
		break;
	case MAPPING_OFFSET:
		protobuf_number(message, OTLP_MAPPING_OFFSET, field->value);
		break;
	case MAPPING_FILENAME:
		protobuf_number(message, OTLP_MAPPING_FILENAME,
				otlp_dictionary_string(dictionary, field->value));
		break;
	case MAPPING_BUILD_ID:
		number = build_id_number(dictionary, field->value);
		if (number)
			protobuf_packed(message, OTLP_MAPPING_ATTRIBUTE_INDICES, &number, 1);
		break;
	default:
		break;
	}
}

static void put_function_field(struct otlp_dictionary *dictionary, struct protobuf *message,
			       const struct protobuf_field *field)
{
	unsigned int to = 0;

	if (field->number == FUNCTION_NAME)
		to = OTLP_FUNCTION_NAME;
	else if (field->number == FUNCTION_SYSTEM_NAME)
		to = OTLP_FUNCTION_SYSTEM_NAME;
	else if (field->number == FUNCTION_FILENAME)
		to = OTLP_FUNCTION_FILENAME;
	if (to)
		protobuf_number(message, to, otlp_dictionary_string(dictionary, field->value));
}

typedef void put_field_fn(struct otlp_dictionary *dictionary, struct protobuf *message,
			  const struct protobuf_field *field);

/*
 * The number of the entry with this id. It becomes one of the dictionary when it is first used;
 * put: its fields. 0 has none.
 */
static uint64_t entry_number(struct otlp_dictionary *dictionary, struct otlp_parts *parts,
			     uint64_t id, struct otlp_table *table, put_field_fn *put)
{
	struct otlp_part *part = id ? otlp_source_part(dictionary->source, parts, id - 1) : NULL;
	struct protobuf message = {0};
	struct protobuf_field field;

	if (part && !part->has_number) {
		struct protobuf_rest rest = {.at = part->bytes, .end = part->bytes + part->size};

		while (otlp_source_next(dictionary->source, &rest, &field))
			put(dictionary, &message, &field);
		part->number = otlp_table_take(table, &message);
		part->has_number = true;
	}
	return part ? part->number : 0;
}

static void put_line(struct otlp_dictionary *dictionary, struct protobuf *location,
		     const struct protobuf_field *field)
{
	struct protobuf_rest rest = protobuf_inside(field);
	struct protobuf line = {0};
	struct protobuf_field part;

	while (otlp_source_next(dictionary->source, &rest, &part)) {
		if (part.number == LINE_FUNCTION_ID)
			protobuf_number(&line, OTLP_LINE_FUNCTION_INDEX,
					entry_number(dictionary, &dictionary->source->functions,
						     part.value, &dictionary->functions,
						     put_function_field));
		else if (part.number == LINE_LINE)
			protobuf_number(&line, OTLP_LINE_LINE, part.value);
	}
	protobuf_message(location, OTLP_LOCATION_LINES, &line);
	protobuf_close(&line);
}

static void put_location_field(struct otlp_dictionary *dictionary, struct protobuf *message,
			       const struct protobuf_field *field)
{
	if (field->number == LOCATION_MAPPING_ID)
		protobuf_number(message, OTLP_LOCATION_MAPPING_INDEX,
				entry_number(dictionary, &dictionary->source->mappings,
					     field->value, &dictionary->mappings,
					     put_mapping_field));
	else if (field->number == LOCATION_ADDRESS)
		protobuf_number(message, OTLP_LOCATION_ADDRESS, field->value);
	else if (field->number == LOCATION_LINE)
		put_line(dictionary, message, field);
}

uint64_t otlp_dictionary_stack(struct otlp_dictionary *dictionary, struct otlp_numbers *location)
{
	struct protobuf stack = {0};

	for (size_t i = 0; i < location->count; i++)
		location->number[i] = entry_number(dictionary, &dictionary->source->locations,
						   location->number[i], &dictionary->locations,
						   put_location_field);
	if (location->count)
		protobuf_packed(&stack, STACK_LOCATION_INDICES, location->number, location->count);
	return otlp_table_take(&dictionary->stacks, &stack);
}

/* ---- the whole ------------------------------------------------------------------------------- */

#define TABLES 7u

static void all_tables(const struct otlp_dictionary *dictionary,
		       const struct otlp_table *out_table[TABLES])
{
	const struct otlp_table *const all[TABLES] = {
		&dictionary->mappings, &dictionary->locations, &dictionary->functions,
		&dictionary->links,    &dictionary->strings,   &dictionary->attributes,
		&dictionary->stacks};

	memcpy(out_table, all, sizeof(all));
}

void otlp_dictionary_open(struct otlp_dictionary *dictionary, struct otlp_source *source)
{
	dictionary->source = source;
	otlp_table_open(&dictionary->mappings, DICTIONARY_MAPPING_TABLE);
	otlp_table_open(&dictionary->locations, DICTIONARY_LOCATION_TABLE);
	otlp_table_open(&dictionary->functions, DICTIONARY_FUNCTION_TABLE);
	otlp_table_open(&dictionary->links, DICTIONARY_LINK_TABLE);
	otlp_table_open(&dictionary->strings, DICTIONARY_STRING_TABLE);
	otlp_table_open(&dictionary->attributes, DICTIONARY_ATTRIBUTE_TABLE);
	otlp_table_open(&dictionary->stacks, DICTIONARY_STACK_TABLE);
}

bool otlp_dictionary_has_failed(const struct otlp_dictionary *dictionary)
{
	const struct otlp_table *table[TABLES];

	all_tables(dictionary, table);
	for (size_t i = 0; i < TABLES; i++)
		if (table[i]->failed)
			return true;
	return false;
}

void otlp_dictionary_put(const struct otlp_dictionary *dictionary, struct protobuf *message,
			 unsigned int field)
{
	const struct otlp_table *table[TABLES];
	struct protobuf whole = {0};

	all_tables(dictionary, table);
	for (size_t i = 0; i < TABLES; i++)
		protobuf_fields(&whole, table[i]->fields.bytes, table[i]->fields.size);
	protobuf_message(message, field, &whole);
	protobuf_close(&whole);
}

void otlp_dictionary_close(struct otlp_dictionary *dictionary)
{
	otlp_table_close(&dictionary->mappings);
	otlp_table_close(&dictionary->locations);
	otlp_table_close(&dictionary->functions);
	otlp_table_close(&dictionary->links);
	otlp_table_close(&dictionary->strings);
	otlp_table_close(&dictionary->attributes);
	otlp_table_close(&dictionary->stacks);
}
