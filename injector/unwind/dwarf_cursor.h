/* SPDX-License-Identifier: MIT */
/*
 * dwarf_cursor.h - reading the primitive values of DWARF from a piece of memory.
 *
 * A read beyond the end returns 0 and sets `failed` permanently, so that a parser checks only once,
 * at the end of a unit. Inline, because the table of a large program takes some millions of these
 * reads. Little-endian, like all of the project.
 */
#ifndef HI_DWARF_CURSOR_H
#define HI_DWARF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct dwarf_cursor {
	const uint8_t *at, *end;
	bool failed;
};

static inline size_t dwarf_left(const struct dwarf_cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

static inline void dwarf_skip(struct dwarf_cursor *cursor, uint64_t size)
{
	if (size > dwarf_left(cursor)) {
		cursor->failed = true;
		size = dwarf_left(cursor);
	}
	cursor->at += size;
}

/* An unsigned integer of 1, 2, 4 or 8 bytes. */
static inline uint64_t dwarf_unsigned(struct dwarf_cursor *cursor, unsigned size)
{
	uint64_t value = 0;

	if (size > dwarf_left(cursor)) {
		dwarf_skip(cursor, size);
		return 0;
	}
	memcpy(&value, cursor->at, size);
	cursor->at += size;
	return value;
}

static inline int64_t dwarf_signed(struct dwarf_cursor *cursor, unsigned size)
{
	const unsigned unused_bits = 64 - 8 * size;

	return (int64_t)(dwarf_unsigned(cursor, size) << unused_bits) >> unused_bits;
}

static inline uint8_t dwarf_byte(struct dwarf_cursor *cursor)
{
	return (uint8_t)dwarf_unsigned(cursor, 1);
}

/*
 * The bits of a LEB128 number. *out_shift: how many bits there were. *out_last: the last byte. Bits
 * above the 64th are lost.
 */
static inline uint64_t dwarf_leb_bits(struct dwarf_cursor *cursor, unsigned *out_shift,
				      uint8_t *out_last)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = dwarf_byte(cursor);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	*out_shift = shift;
	*out_last = byte;
	return value;
}

static inline uint64_t dwarf_uleb(struct dwarf_cursor *cursor)
{
	unsigned shift;
	uint8_t last;

	return dwarf_leb_bits(cursor, &shift, &last);
}

static inline int64_t dwarf_sleb(struct dwarf_cursor *cursor)
{
	unsigned shift;
	uint8_t last;
	uint64_t value = dwarf_leb_bits(cursor, &shift, &last);

	if (shift < 64 && (last & 0x40))
		value |= ~(uint64_t)0 << shift;
	return (int64_t)value;
}

#endif
