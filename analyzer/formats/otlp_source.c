/* SPDX-License-Identifier: MIT */
/* otlp_source.c - see otlp_source.h. Start at otlp_source_read(). */
#include "otlp_source.h"

#include <errno.h>
#include <stdlib.h>

#include "pprof_fields.h"
#include "printable.h"
#include "table.h"

static void fail(struct otlp_source *source, int err)
{
	source->err = source->err ? source->err : err;
}

struct protobuf_rest otlp_source_all(const struct otlp_source *source)
{
	return (struct protobuf_rest){.at = source->message,
				      .end = (const uint8_t *)source->message + source->size};
}

bool otlp_source_next(struct otlp_source *source, struct protobuf_rest *rest,
		      struct protobuf_field *out_field)
{
	const int end = source->err ? source->err : protobuf_next(rest, out_field);

	if (end && end != -ENODATA)
		fail(source, end);
	return !end;
}

static void add_number(struct otlp_source *source, struct otlp_numbers *to, uint64_t number)
{
	if (array_reserve(&to->number, &to->capacity, to->count, sizeof(*to->number)))
		fail(source, -ENOMEM);
	else
		to->number[to->count++] = number;
}

void otlp_source_numbers(struct otlp_source *source, const struct protobuf_field *field,
			 struct otlp_numbers *to)
{
	struct protobuf_rest rest = protobuf_inside(field);
	uint64_t number;
	int end;

	if (!field->bytes) {
		add_number(source, to, field->value);
		return;
	}
	while (!(end = protobuf_next_number(&rest, &number)) && !source->err)
		add_number(source, to, number);
	if (end && end != -ENODATA)
		fail(source, end);
}

struct otlp_part *otlp_source_part(struct otlp_source *source, struct otlp_parts *parts,
				   uint64_t index)
{
	if (index < parts->count)
		return &parts->part[index];
	fail(source, -EBADMSG);
	return NULL;
}

char *otlp_source_text(struct otlp_source *source, uint64_t string)
{
	const struct otlp_part *part = otlp_source_part(source, &source->strings, string);
	char *const text = part ? printable_escaped((const char *)part->bytes, part->size) : NULL;

	if (!text)
		fail(source, -ENOMEM);
	return text;
}

static void add_part(struct otlp_source *source, struct otlp_parts *parts,
		     const struct protobuf_field *field)
{
	if (!field->bytes)
		fail(source, -EBADMSG);
	else if (array_reserve(&parts->part, &parts->capacity, parts->count, sizeof(*parts->part)))
		fail(source, -ENOMEM);
	else
		parts->part[parts->count++] =
			(struct otlp_part){.bytes = field->bytes, .size = field->size};
}

/* Ids count from 1. The field with the id has the same number in all three messages. */
static void add_entry(struct otlp_source *source, struct otlp_parts *parts,
		      const struct protobuf_field *field)
{
	struct protobuf_rest rest = protobuf_inside(field);
	struct protobuf_field part;
	uint64_t id = 0;

	_Static_assert((int)MAPPING_ID == (int)LOCATION_ID && (int)MAPPING_ID == (int)FUNCTION_ID,
		       "ids");
	while (otlp_source_next(source, &rest, &part))
		if (part.number == MAPPING_ID)
			id = part.value;
	add_part(source, parts, field);
	if (id != parts->count)
		fail(source, -EBADMSG);
}

static struct otlp_value_type value_type_of(struct otlp_source *source,
					    const struct protobuf_field *field)
{
	struct protobuf_rest rest = protobuf_inside(field);
	struct otlp_value_type type = {0};
	struct protobuf_field part;

	while (otlp_source_next(source, &rest, &part)) {
		if (part.number == VALUE_TYPE)
			type.type = part.value;
		else if (part.number == VALUE_UNIT)
			type.unit = part.value;
	}
	return type;
}

static void add_field(struct otlp_source *source, const struct protobuf_field *field)
{
	switch (field->number) {
	case PROFILE_SAMPLE_TYPE:
		if (source->type_count == OTLP_TYPES_MAX)
			fail(source, -EBADMSG);
		else
			source->type[source->type_count++] = value_type_of(source, field);
		break;
	case PROFILE_MAPPING:
		add_entry(source, &source->mappings, field);
		break;
	case PROFILE_LOCATION:
		add_entry(source, &source->locations, field);
		break;
	case PROFILE_FUNCTION:
		add_entry(source, &source->functions, field);
		break;
	case PROFILE_STRING_TABLE:
		add_part(source, &source->strings, field);
		break;
	case PROFILE_PERIOD_TYPE:
		source->period_type = value_type_of(source, field);
		break;
	case PROFILE_PERIOD:
		source->period = field->value;
		break;
	case PROFILE_DEFAULT_SAMPLE_TYPE:
		source->default_type = field->value;
		break;
	case PROFILE_COMMENT:
		otlp_source_numbers(source, field, &source->comments);
		break;
	default:
		break;
	}
}

void otlp_source_read(struct otlp_source *source)
{
	struct protobuf_rest rest = otlp_source_all(source);
	struct protobuf_field field;

	while (otlp_source_next(source, &rest, &field))
		add_field(source, &field);
	if (!source->strings.count || source->strings.part[0].size)
		fail(source, -EBADMSG);
}

void otlp_source_close(struct otlp_source *source)
{
	free(source->strings.part);
	free(source->mappings.part);
	free(source->locations.part);
	free(source->functions.part);
	free(source->comments.number);
	*source = (struct otlp_source){0};
}
