/* SPDX-License-Identifier: MIT */
/*
 * otlp.c - see hi_otlp.h. pprof's samples have a value for each type; OTLP has a Profile for each
 * type, whose samples name a stack of the shared dictionary. Samples of one Profile differ in stack
 * or attributes: what is alike is added up. Start at hi_otlp_request().
 */
#include "hi_otlp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hi_version.h"
#include "mapping_rows.h"
#include "otlp_dictionary.h"
#include "otlp_fields.h"
#include "pool_rows.h"
#include "pprof_fields.h"
#include "sample_types.h"

_Static_assert(SAMPLE_TYPE_COUNT + MAPPING_TYPES + POOL_TYPES <= OTLP_TYPES_MAX,
	       "all types that a profile of ours may have");

struct values {
	uint64_t value[OTLP_TYPES_MAX]; /* int64 on the wire */
};
struct otlp {
	const struct hi_otlp_origin *origin;
	struct otlp_source source;
	struct otlp_dictionary dictionary;
	struct otlp_table samples; /* stack and attributes of each, as in Sample */
	struct values *values;     /* of each */
	size_t value_count, value_capacity;
	struct otlp_numbers location, value, attribute; /* of the sample that is read */
	uint64_t comments;
	bool failed;
};

/* ---- samples --------------------------------------------------------------------------------- */

static void read_sample(struct otlp *otlp, const struct protobuf_field *field)
{
	struct protobuf_rest rest = protobuf_inside(field);
	struct protobuf_field part;
	struct protobuf_field label = {.number = 0};

	otlp->location.count = otlp->value.count = otlp->attribute.count = 0;
	while (otlp_source_next(&otlp->source, &rest, &part)) {
		if (part.number == SAMPLE_LOCATION_ID) {
			otlp_source_numbers(&otlp->source, &part, &otlp->location);
		} else if (part.number == SAMPLE_VALUE) {
			otlp_source_numbers(&otlp->source, &part, &otlp->value);
		} else if (part.number == SAMPLE_LABEL) {
			label.value = otlp_dictionary_label(&otlp->dictionary, &part);
			if (label.value)
				otlp_source_numbers(&otlp->source, &label, &otlp->attribute);
		}
	}
	if (otlp->value.count != otlp->source.type_count && !otlp->source.err)
		otlp->source.err = -EBADMSG;
}

static void add_sample(struct otlp *otlp, const struct protobuf_field *field)
{
	struct protobuf message = {0};

	read_sample(otlp, field);
	protobuf_number(&message, OTLP_SAMPLE_STACK_INDEX,
			otlp_dictionary_stack(&otlp->dictionary, &otlp->location));
	if (otlp->attribute.count)
		protobuf_packed(&message, OTLP_SAMPLE_ATTRIBUTE_INDICES, otlp->attribute.number,
				otlp->attribute.count);
	const uint64_t sample = otlp_table_take(&otlp->samples, &message);
	/* the first one, that has neither, is there from the beginning */
	while (otlp->value_count <= sample && !otlp->failed) {
		otlp->failed = array_reserve(&otlp->values, &otlp->value_capacity,
					     otlp->value_count, sizeof(*otlp->values)) != 0;
		if (!otlp->failed)
			otlp->values[otlp->value_count++] = (struct values){{0}};
	}
	if (otlp->failed || otlp->source.err)
		return;
	for (size_t i = 0; i < otlp->source.type_count; i++)
		otlp->values[sample].value[i] += otlp->value.number[i];
}

static void add_samples(struct otlp *otlp)
{
	struct protobuf_rest rest = otlp_source_all(&otlp->source);
	struct protobuf_field field;

	while (!otlp->failed && otlp_source_next(&otlp->source, &rest, &field))
		if (field.number == PROFILE_SAMPLE)
			add_sample(otlp, &field);
}

/* ---- the request ----------------------------------------------------------------------------- */

static void put_samples(const struct otlp *otlp, size_t type, struct protobuf *profile)
{
	struct protobuf sample = {0};

	for (size_t i = 0; i < otlp->value_count; i++) {
		const struct otlp_entry *entry = &otlp->samples.entry[i];
		const uint64_t value = otlp->values[i].value[type];

		if (!value)
			continue;
		protobuf_reset(&sample);
		protobuf_fields(&sample, otlp->samples.fields.bytes + entry->at, entry->size);
		protobuf_packed(&sample, OTLP_SAMPLE_VALUES, &value, 1);
		protobuf_message(profile, OTLP_PROFILE_SAMPLES, &sample);
	}
	protobuf_close(&sample);
}

static void put_value_type(struct otlp *otlp, struct protobuf *profile, unsigned int field,
			   const struct otlp_value_type *type)
{
	struct protobuf message = {0};

	protobuf_number(&message, OTLP_VALUE_TYPE,
			otlp_dictionary_string(&otlp->dictionary, type->type));
	protobuf_number(&message, OTLP_VALUE_UNIT,
			otlp_dictionary_string(&otlp->dictionary, type->unit));
	protobuf_message(profile, field, &message);
	protobuf_close(&message);
}

/* Servers take a period of 0 for a mistake. */
static void put_profile(struct otlp *otlp, size_t type, struct protobuf *scope)
{
	struct protobuf profile = {0};
	uint8_t id[HI_OTLP_ID_SIZE];

	memcpy(id, otlp->origin->id, sizeof(id));
	/* each Profile has an id of its own, and the same one when it is sent again */
	id[HI_OTLP_ID_SIZE - 1] ^= (uint8_t)type;
	put_value_type(otlp, &profile, OTLP_PROFILE_SAMPLE_TYPE, &otlp->source.type[type]);
	put_samples(otlp, type, &profile);
	protobuf_fixed64(&profile, OTLP_PROFILE_TIME_UNIX_NANO, otlp->origin->unix_ns);
	put_value_type(otlp, &profile, OTLP_PROFILE_PERIOD_TYPE, &otlp->source.period_type);
	protobuf_number(&profile, OTLP_PROFILE_PERIOD,
			otlp->source.period ? otlp->source.period : 1);
	protobuf_bytes(&profile, OTLP_PROFILE_PROFILE_ID, id, sizeof(id));
	if (otlp->comments)
		protobuf_packed(&profile, OTLP_PROFILE_ATTRIBUTE_INDICES, &otlp->comments, 1);
	protobuf_message(scope, SCOPE_PROFILES_PROFILES, &profile);
	protobuf_close(&profile);
}

/* The default one comes first, as tools show that one. */
static void put_profiles(struct otlp *otlp, struct protobuf *scope)
{
	size_t first = 0;

	for (size_t type = 0; type < otlp->source.type_count; type++)
		if (otlp->source.type[type].type == otlp->source.default_type)
			first = type;
	if (otlp->source.type_count)
		put_profile(otlp, first, scope);
	for (size_t type = 0; type < otlp->source.type_count; type++)
		if (type != first)
			put_profile(otlp, type, scope);
}

static void put_resource(const struct hi_otlp_origin *origin, struct protobuf *message)
{
	struct protobuf resource = {0}, attribute = {0}, value = {0};

	for (size_t i = 0; i < origin->attribute_count; i++) {
		const struct hi_otlp_attribute *one = &origin->attribute[i];

		protobuf_reset(&attribute);
		protobuf_reset(&value);
		if (one->text)
			protobuf_string(&value, ANY_STRING, one->text);
		else
			protobuf_oneof_number(&value, ANY_INT, (uint64_t)one->number);
		protobuf_string(&attribute, KEY_VALUE_KEY, one->name);
		protobuf_message(&attribute, KEY_VALUE_VALUE, &value);
		protobuf_message(&resource, RESOURCE_ATTRIBUTES, &attribute);
	}
	protobuf_message(message, RESOURCE_PROFILES_RESOURCE, &resource);
	protobuf_close(&resource);
	protobuf_close(&attribute);
	protobuf_close(&value);
}

static void put_request(struct otlp *otlp, struct protobuf *request)
{
	struct protobuf resource = {0}, profiles = {0}, scope = {0};

	protobuf_string(&scope, SCOPE_NAME, "heapinject");
	protobuf_string(&scope, SCOPE_VERSION, HI_VERSION);
	protobuf_message(&profiles, SCOPE_PROFILES_SCOPE, &scope);
	put_profiles(otlp, &profiles);
	put_resource(otlp->origin, &resource);
	protobuf_message(&resource, RESOURCE_PROFILES_SCOPE_PROFILES, &profiles);
	protobuf_message(request, REQUEST_RESOURCE_PROFILES, &resource);
	otlp_dictionary_put(&otlp->dictionary, request, REQUEST_DICTIONARY);
	protobuf_close(&scope);
	protobuf_close(&profiles);
	protobuf_close(&resource);
}

static void otlp_close(struct otlp *otlp)
{
	otlp_source_close(&otlp->source);
	otlp_dictionary_close(&otlp->dictionary);
	otlp_table_close(&otlp->samples);
	free(otlp->values);
	free(otlp->location.number);
	free(otlp->value.number);
	free(otlp->attribute.number);
}

int hi_otlp_request(const void *profile, size_t size, const struct hi_otlp_origin *origin,
		    uint8_t **out_bytes, size_t *out_size)
{
	struct otlp otlp = {.origin = origin, .source = {.message = profile, .size = size}};
	struct protobuf request = {0};

	otlp_source_read(&otlp.source);
	otlp_dictionary_open(&otlp.dictionary, &otlp.source);
	otlp_table_open(&otlp.samples, OTLP_PROFILE_SAMPLES);
	add_samples(&otlp);
	otlp.comments = otlp_dictionary_comments(&otlp.dictionary);
	if (!otlp.source.err)
		put_request(&otlp, &request);
	const bool failed = otlp.failed || otlp.samples.failed || request.failed ||
			    otlp_dictionary_has_failed(&otlp.dictionary);
	const int err = otlp.source.err ? otlp.source.err : failed ? -ENOMEM : 0;

	otlp_close(&otlp);
	if (err) {
		protobuf_close(&request);
		return err;
	}
	*out_bytes = request.bytes;
	*out_size = request.size;
	return 0;
}
