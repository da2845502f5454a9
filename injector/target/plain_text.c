/* SPDX-License-Identifier: MIT */
/* plain_text.c - see plain_text.h. */
#include "plain_text.h"

#include <stdbool.h>

/* Is it a control character, either ASCII or an 8-bit one in UTF-8 (C2 80 to C2 9F)? */
static bool is_control(const unsigned char *byte, bool is_first)
{
	const unsigned char lead = is_first ? 0 : byte[-1];

	return *byte < ' ' || *byte == 127 ||
	       (*byte == 0xc2 && byte[1] >= 0x80 && byte[1] < 0xa0) ||
	       (lead == 0xc2 && *byte >= 0x80 && *byte < 0xa0);
}

void plain_text_copy(char *into, size_t size, const char *from)
{
	size_t i;

	for (i = 0; i + 1 < size && from[i]; i++)
		into[i] = is_control((const unsigned char *)from + i, i == 0) ? '?' : from[i];
	into[i] = '\0';
}
