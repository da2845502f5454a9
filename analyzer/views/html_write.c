/* SPDX-License-Identifier: MIT */
/* html_write.c - see html_write.h. */
#include "html_write.h"

#include <string.h>

#define TEXT_MAX_WRITTEN 600u /* bytes of one string */

/* Writes the page up to the word. Returns what follows the word. */
static const char *write_until(const char *page, const char *word, FILE *out)
{
	const char *at = strstr(page, word);

	fwrite(page, 1, (size_t)(at - page), out);
	return at + strlen(word);
}

void html_write_page(const char *page, const char *style, const char *data, const char *script,
		     FILE *out)
{
	const char *rest = write_until(page, "@STYLE@", out);

	fputs(style, out);
	rest = write_until(rest, "@DATA@", out);
	fputs(data, out);
	rest = write_until(rest, "@SCRIPT@", out);
	fputs(script, out);
	fputs(rest, out);
}

void html_write_text(const char *text, FILE *out)
{
	const unsigned char *byte = (const unsigned char *)text;
	size_t written = 0;

	fputc('"', out);
	for (; *byte && (written < TEXT_MAX_WRITTEN || (*byte & 0xc0) == 0x80); byte++, written++) {
		if (*byte < 0x20 || *byte == '"' || *byte == '\\' || *byte == '<' || *byte == '>' ||
		    *byte == '&')
			fprintf(out, "\\u%04x", *byte);
		else
			fputc(*byte, out);
	}
	fprintf(out, "%s\"", *byte ? "\u2026" : "");
}
