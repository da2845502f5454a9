/* SPDX-License-Identifier: MIT */
/*
 * protobuf.c - varints, and fields of the two wire types that are in use. Start at protobuf_number().
 */
#include "protobuf.h"

#include <stdlib.h>
#include <string.h>

#define WIRE_VARINT 0u
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

static void append_bytes(struct protobuf *message, unsigned int field, const void *bytes, size_t size)
{
	append_varint(message, field << 3 | WIRE_BYTES);
	append_varint(message, size);
	append(message, bytes, size);
}

void protobuf_number(struct protobuf *message, unsigned int field, uint64_t value)
{
	if (!value)
		return;
	append_varint(message, field << 3 | WIRE_VARINT);
	append_varint(message, value);
}

void protobuf_string(struct protobuf *message, unsigned int field, const char *text)
{
	append_bytes(message, field, text, strlen(text));
}

void protobuf_message(struct protobuf *message, unsigned int field, const struct protobuf *inner)
{
	message->failed = message->failed || inner->failed;
	append_bytes(message, field, inner->bytes, inner->size);
}

void protobuf_packed(struct protobuf *message, unsigned int field, const uint64_t *value, size_t count)
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

void protobuf_reset(struct protobuf *message)
{
	message->size = 0;
}

void protobuf_close(struct protobuf *message)
{
	free(message->bytes);
	*message = (struct protobuf){0};
}
