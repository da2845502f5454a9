/* SPDX-License-Identifier: MIT */
/*
 * wire_fields.h - takes messages of protobuf apart: a reader of the wire format that shares no code
 * with the writer. What cannot be read fails the test.
 */
#ifndef HI_TEST_WIRE_FIELDS_H
#define HI_TEST_WIRE_FIELDS_H

#include <string.h>

#include "unit.h"

struct field {
	unsigned int number;
	uint64_t value; /* of a number; size of bytes */
	const uint8_t *bytes;
};

static inline uint64_t take_varint(const uint8_t **at)
{
	uint64_t value = 0;

	for (unsigned int shift = 0;; shift += 7) {
		const uint8_t byte = *(*at)++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
		CHECK(shift < 63);
	}
}

static inline struct field take_field(const uint8_t **at)
{
	const uint64_t key = take_varint(at);
	struct field field = {.number = (unsigned int)(key >> 3)};

	CHECK((key & 7) <= 2);
	if ((key & 7) == 1) {
		memcpy(&field.value, *at, 8);
		*at += 8;
		return field;
	}
	field.value = take_varint(at);
	if ((key & 7) == 2) {
		field.bytes = *at;
		*at += field.value;
	}
	return field;
}

/* The nth field of that number in a message; number 0 in the result: there is none. */
static inline struct field inner(struct field message, unsigned int number, size_t n)
{
	const uint8_t *at = message.bytes;

	while (at < message.bytes + message.value) {
		const struct field field = take_field(&at);

		CHECK(at <= message.bytes + message.value);
		if (field.number == number && n-- == 0)
			return field;
	}
	return (struct field){0};
}

#endif
