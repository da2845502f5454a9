/* SPDX-License-Identifier: MIT */
/*
 * printable.c - see printable.h.
 *
 * A symbol named with an escape sequence must not drive a terminal, one with a line break must not
 * forge a line of a report, one that turns the order of characters must not look like another, and
 * one with a broken UTF-8 sequence must not make an SVG unreadable.
 */
#include "printable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE_MAX 4u /* characters: \x01 */

/* Length of the well-formed UTF-8 sequence at text (Unicode, table 3-7), 0 if there is none. */
static size_t sequence_length(const unsigned char *text)
{
	const unsigned char first = text[0], second = first ? text[1] : 0;
	size_t length;

	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		length = 2;
	else if (first >= 0xe0 && first <= 0xef)
		length = 3;
	else if (first >= 0xf0 && first <= 0xf4)
		length = 4;
	else
		return 0;
	/* Overlong forms, surrogates, beyond U+10FFFF; and the C1 control characters. */
	if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
	    (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f) ||
	    (first == 0xc2 && second < 0xa0))
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	}
	return length;
}

/*
 * A character that is invisible and changes the order of those beside it, or ends a line: U+061C,
 * U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069. The sequence is well-formed.
 */
static bool is_misleading(const unsigned char *text)
{
	if (text[0] == 0xd8)
		return text[1] == 0x9c;
	if (text[0] != 0xe2)
		return false;
	if (text[1] == 0x80)
		return text[2] == 0x8e || text[2] == 0x8f || (text[2] >= 0xa8 && text[2] <= 0xae);
	return text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9;
}

static bool is_control(unsigned char byte)
{
	return byte < 0x20 || byte == 0x7f;
}

void printable(char *text)
{
	unsigned char *byte = (unsigned char *)text;

	while (*byte) {
		const size_t length = is_control(*byte) ? 0 : sequence_length(byte);
		if (length == 0 || is_misleading(byte))
			memset(byte, '?', length ? length : 1);
		byte += length ? length : 1;
	}
}

char *printable_escaped(const char *text, size_t size)
{
	static const char letters[] = "nrt", controls[] = "\n\r\t";
	size_t length = strnlen(text, size), escapes = 0;

	for (size_t i = 0; i < length; i++)
		escapes += is_control((unsigned char)text[i]);
	char *copy = malloc(length + escapes * (ESCAPE_MAX - 1) + 1), *to = copy;
	if (!copy)
		return NULL;
	for (size_t i = 0; i < length; i++) {
		const char *control = strchr(controls, text[i]);

		if (!is_control((unsigned char)text[i]))
			*to++ = text[i];
		else if (control)
			to += sprintf(to, "\\%c", letters[control - controls]);
		else
			to += sprintf(to, "\\x%02x", (unsigned char)text[i]);
	}
	*to = '\0';
	printable(copy);
	return copy;
}
