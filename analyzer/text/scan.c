/* SPDX-License-Identifier: MIT */
/*
 * scan.c - see scan.h.
 */
#include "scan.h"

void skip_spaces(const char **cursor)
{
	while (**cursor == ' ')
		++*cursor;
}

bool scan_char(const char **cursor, char wanted)
{
	if (**cursor != wanted)
		return false;
	++*cursor;
	return true;
}

/* By character: its value as a digit plus 1; 0 = it is no digit in any base up to 16. */
static const uint8_t digit_plus_1[256] = {
	['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static bool is_digit(char character, unsigned int base)
{
	const unsigned int plus_1 = digit_plus_1[(unsigned char)character];

	return plus_1 > 0 && plus_1 <= base;
}

/* Inlined, so that the base is a constant. */
static inline bool scan_digits(const char **cursor, unsigned int base, uint64_t *out_number)
{
	const char *at = *cursor;
	uint64_t number = 0;

	for (; is_digit(*at, base); at++) {
		const uint64_t digit = digit_plus_1[(unsigned char)*at] - 1u;

		if (number > (UINT64_MAX - digit) / base)
			return false;
		number = number * base + digit;
	}
	if (at == *cursor)
		return false;
	*cursor = at;
	*out_number = number;
	return true;
}

/* Without strtoull(), for speed: a profile of a million stacks has some thirty million numbers. */
bool scan_number(const char **cursor, int base, uint64_t *out_number)
{
	const char *digits = *cursor;

	if (base == 16 && digits[0] == '0' && (digits[1] | 0x20) == 'x' && is_digit(digits[2], 16))
		digits += 2;
	if (!(base == 16 ? scan_digits(&digits, 16, out_number)
			 : scan_digits(&digits, 10, out_number)))
		return false;
	*cursor = digits;
	return true;
}
