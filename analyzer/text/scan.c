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

/* The value of a character as a digit; 16 = no digit in any base up to 16. */
static unsigned int digit_of(char character)
{
	const unsigned int decimal = (unsigned int)(unsigned char)character - '0',
			   letter = ((unsigned int)(unsigned char)character | 0x20) - 'a';

	return decimal < 10 ? decimal : letter < 6 ? letter + 10 : 16;
}

/* Without strtoull(), for speed: a profile of a million stacks has some thirty million numbers. */
bool scan_number(const char **cursor, int base, uint64_t *out_number)
{
	const char *at = *cursor, *first;
	uint64_t number = 0;
	unsigned int digit;

	if (base == 16 && at[0] == '0' && (at[1] | 0x20) == 'x' && digit_of(at[2]) < 16)
		at += 2;
	for (first = at; (digit = digit_of(*at)) < (unsigned int)base; at++) {
		if (__builtin_mul_overflow(number, (uint64_t)base, &number) ||
		    __builtin_add_overflow(number, digit, &number))
			return false;
	}
	if (at == first)
		return false;
	*cursor = at;
	*out_number = number;
	return true;
}
