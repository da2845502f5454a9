/* SPDX-License-Identifier: MIT */
/* content.c - see content.h. */
#include "content.h"

#include <ctype.h>
#include <string.h>

#define TEXT_MIN 4u

static uint64_t word_at(const uint8_t *byte, size_t word)
{
	uint64_t value;

	memcpy(&value, byte + word * sizeof(value), sizeof(value));
	return value;
}

static bool is_zero(const uint8_t *byte, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (byte[i])
			return false;
	return true;
}

static bool is_text_byte(uint8_t byte)
{
	return isprint(byte) || byte == '\n' || byte == '\t' || byte == '\r' || byte >= 0x80;
}

/*
 * A string, up to a zero or the end. Bytes from 0x80 on may be letters of other languages: there
 * have to be as many of ASCII.
 */
static bool is_text(const uint8_t *byte, size_t size)
{
	size_t length = 0, plain = 0;

	for (; length < size && is_text_byte(byte[length]); length++)
		plain += byte[length] < 0x80;
	return length >= TEXT_MIN && 2 * plain >= length && (length == size || !byte[length]);
}

static bool has_pointers(const struct content_reader *reader, const uint8_t *byte, size_t words)
{
	size_t pointers = 0, others = 0;
	uint32_t block;

	for (size_t i = 0; i < words; i++) {
		const uint64_t word = word_at(byte, i);

		if (block_index_find(&reader->index, word, &block))
			pointers++;
		else if (word)
			others++;
	}
	return pointers && pointers >= others;
}

struct content content_of(struct content_reader *reader, const uint8_t *byte, size_t size)
{
	const size_t words = size / sizeof(uint64_t);
	const uint32_t type = words ? type_infos_find(&reader->types, word_at(byte, 0)) : TYPE_NONE;

	if (type != TYPE_NONE)
		return (struct content){CONTENT_OBJECT, type};
	if (is_zero(byte, size))
		return (struct content){CONTENT_ZERO, TYPE_NONE};
	if (has_pointers(reader, byte, words))
		return (struct content){CONTENT_POINTERS, TYPE_NONE};
	if (is_text(byte, size))
		return (struct content){CONTENT_TEXT, TYPE_NONE};
	return (struct content){CONTENT_OTHER, TYPE_NONE};
}

const char *content_name(enum content_kind kind)
{
	static const char *const name[CONTENT_KINDS] = {
		[CONTENT_OBJECT] = "object",     [CONTENT_TEXT] = "text",
		[CONTENT_POINTERS] = "pointers", [CONTENT_ZERO] = "zeros",
		[CONTENT_OTHER] = "other",       [CONTENT_UNKNOWN] = "unknown",
	};

	return name[kind];
}
