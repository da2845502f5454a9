/* SPDX-License-Identifier: MIT */
/*
 * protobuf.c - varints, and fields of the three wire types that are in use. Start at
 * protobuf_number().
 */
#include "protobuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIELD_NUMBER_MAX ((1u << 29) - 1)
#define WIRE_VARINT 0u
#define WIRE_64 1u
#define WIRE_32 5u
#define WIRE_BYTES 2u
#define VARINT_MAX 10u /* bytes of the longest varint */
#define FIRST_CAPACITY 256u

static void append(struct protobuf *message, const void *bytes, size_t size)
{
	size_t capacity = message->capacity ? message->capacity : FIRST_CAPACITY;
	uint8_t *grown;

	while (capacity - message->size < size)
		capacity *= 2;
	if (capacity != message->capacity) {
		grown = realloc(message->bytes, capacity);
		if (!grown) {
			message->failed = true;
			return;
		}
		message->bytes = grown;
		message->capacity = capacity;
	}
	if (size)
		memcpy(message->bytes + message->size, bytes, size);
	message->size += size;
}

static size_t encode(uint64_t value, uint8_t out_bytes[VARINT_MAX])
{
	size_t size = 0;

	for (; value >= 0x80; value >>= 7)
		out_bytes[size++] = (uint8_t)(value | 0x80);
	out_bytes[size++] = (uint8_t)value;
	return size;
}

static void append_varint(struct protobuf *message, uint64_t value)
{
	uint8_t bytes[VARINT_MAX];
	const size_t size = encode(value, bytes);

	append(message, bytes, size);
}

void protobuf_bytes(struct protobuf *message, unsigned int field, const void *bytes, size_t size)
{
	append_varint(message, field << 3 | WIRE_BYTES);
	append_varint(message, size);
	append(message, bytes, size);
}

void protobuf_number(struct protobuf *message, unsigned int field, uint64_t value)
{
	if (value)
		protobuf_oneof_number(message, field, value);
}

void protobuf_oneof_number(struct protobuf *message, unsigned int field, uint64_t value)
{
	append_varint(message, field << 3 | WIRE_VARINT);
	append_varint(message, value);
}

void protobuf_fixed64(struct protobuf *message, unsigned int field, uint64_t value)
{
	uint8_t bytes[sizeof(value)];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	append_varint(message, field << 3 | WIRE_64);
	append(message, bytes, sizeof(bytes));
}

void protobuf_string(struct protobuf *message, unsigned int field, const char *text)
{
	protobuf_bytes(message, field, text, strlen(text));
}

void protobuf_message(struct protobuf *message, unsigned int field, const struct protobuf *inner)
{
	message->failed = message->failed || inner->failed;
	protobuf_bytes(message, field, inner->bytes, inner->size);
}

void protobuf_packed(struct protobuf *message, unsigned int field, const uint64_t *value,
		     size_t count)
{
	uint8_t bytes[VARINT_MAX];
	size_t size = 0;

	for (size_t i = 0; i < count; i++)
		size += encode(value[i], bytes);
	append_varint(message, field << 3 | WIRE_BYTES);
	append_varint(message, size);
	for (size_t i = 0; i < count; i++)
		append_varint(message, value[i]);
}

void protobuf_fields(struct protobuf *message, const void *bytes, size_t size)
{
	append(message, bytes, size);
}

void protobuf_reset(struct protobuf *message)
{
	message->size = 0;
}

void protobuf_close(struct protobuf *message)
{
	free(message->bytes);
	*message = (struct protobuf){0};
}

int protobuf_next_number(struct protobuf_rest *rest, uint64_t *out_value)
{
	uint64_t value = 0;

	if (rest->at == rest->end)
		return -ENODATA;
	for (size_t i = 0; i < VARINT_MAX && i < (size_t)(rest->end - rest->at); i++) {
		value |= (uint64_t)(rest->at[i] & 0x7f) << (7 * i);
		if (rest->at[i] & 0x80)
			continue;
		rest->at += i + 1;
		*out_value = value;
		return 0;
	}
	return -EBADMSG;
}

static int take_bytes(struct protobuf_rest *rest, uint64_t size, struct protobuf_field *field)
{
	if (size > (uint64_t)(rest->end - rest->at))
		return -EBADMSG;
	field->bytes = rest->at;
	field->size = (size_t)size;
	rest->at += size;
	return 0;
}

/* Skips a number of fixed width. profile.proto has none, so its value does not matter. */
static int take_fixed(struct protobuf_rest *rest, size_t size)
{
	if (size > (size_t)(rest->end - rest->at))
		return -EBADMSG;
	rest->at += size;
	return 0;
}

static int take_value(struct protobuf_rest *rest, unsigned int wire, struct protobuf_field *field)
{
	uint64_t size;

	switch (wire) {
	case WIRE_VARINT:
		return protobuf_next_number(rest, &field->value);
	case WIRE_64:
		return take_fixed(rest, sizeof(uint64_t));
	case WIRE_32:
		return take_fixed(rest, sizeof(uint32_t));
	case WIRE_BYTES:
		return protobuf_next_number(rest, &size) ? -EBADMSG : take_bytes(rest, size, field);
	default:
		return -EBADMSG;
	}
}

int protobuf_next(struct protobuf_rest *rest, struct protobuf_field *out_field)
{
	struct protobuf_rest after = *rest;
	struct protobuf_field field = {0};
	uint64_t key;
	const int err = protobuf_next_number(&after, &key);

	if (err)
		return err;
	if (key >> 3 == 0 || key >> 3 > FIELD_NUMBER_MAX || take_value(&after, key & 7, &field))
		return -EBADMSG;
	field.number = (unsigned int)(key >> 3);
	*rest = after;
	*out_field = field;
	return 0;
}

struct protobuf_rest protobuf_inside(const struct protobuf_field *field)
{
	return (struct protobuf_rest){.at = field->bytes,
				      .end = field->bytes ? field->bytes + field->size : NULL};
}
