/* SPDX-License-Identifier: MIT */
/*
 * scan.c - see scan.h.
 */
#include "scan.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void skip_spaces(const char **cursor)
{
	*cursor += strspn(*cursor, " ");
}

bool scan_char(const char **cursor, char wanted)
{
	if (**cursor != wanted)
		return false;
	++*cursor;
	return true;
}

bool scan_number(const char **cursor, int base, uint64_t *out_number)
{
	uint64_t number;
	char *end;

	if (!isxdigit((unsigned char)**cursor))
		return false;
	errno = 0;
	number = strtoull(*cursor, &end, base);
	if (errno || end == *cursor)
		return false;
	*cursor = end;
	*out_number = number;
	return true;
}
