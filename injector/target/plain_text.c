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

/*
 * Length of the well-formed UTF-8 sequence at `text`; 0: there is none. The terminating NUL is part
 * of no sequence, so no byte after it is read.
 */
static size_t utf8_length(const unsigned char *text)
{
	static const struct {
		unsigned char lead_lo, lead_hi, second_lo, second_hi;
		size_t length;
	} forms[] = {
		{0x01, 0x7f, 0x00, 0xff, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2},
		{0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
		{0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t good = 1;

		if (text[0] < forms[i].lead_lo || text[0] > forms[i].lead_hi)
			continue;
		while (good < forms[i].length &&
		       text[good] >= (good == 1 ? forms[i].second_lo : 0x80) &&
		       text[good] <= (good == 1 ? forms[i].second_hi : 0xbf))
			good++;
		return good == forms[i].length ? good : 0;
	}
	return 0;
}

void plain_text_json(FILE *stream, const char *string)
{
	const unsigned char *text = (const unsigned char *)string;

	fputc('"', stream);
	while (*text) {
		const size_t length = utf8_length(text);

		if (length == 0)
			fputs("\\ufffd", stream);
		else if (*text < ' ' || *text == 127)
			fprintf(stream, "\\u%04x", *text);
		else
			fprintf(stream, "%s%.*s", *text == '"' || *text == '\\' ? "\\" : "",
				(int)length, (const char *)text);
		text += length ? length : 1;
	}
	fputc('"', stream);
}
