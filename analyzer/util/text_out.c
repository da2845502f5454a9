/* SPDX-License-Identifier: MIT */
/* text_out.c - see text_out.h. */
#include "text_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"

#define WHOLE_MAX 0x1p62

/* To be freed; NULL = out of memory, which is what the stream would then meet, too. */
static char *printable_copy(const char *text)
{
	char *copy = strdup(text);

	if (copy)
		printable(copy);
	return copy;
}

void text_plain(const char *text, const char *instead, FILE *out)
{
	char *copy = text && *text ? printable_copy(text) : NULL;

	fputs(copy ? copy : instead, out);
	free(copy);
}

void text_json(const char *text, FILE *out)
{
	char *copy = text ? printable_copy(text) : NULL;

	if (!copy) {
		fputs("null", out);
		return;
	}
	putc('"', out);
	for (const char *at = copy; *at; at++) {
		if (*at == '"' || *at == '\\')
			putc('\\', out);
		putc(*at, out);
	}
	putc('"', out);
	free(copy);
}

int64_t text_whole(double value)
{
	return isnan(value) ? 0 : llround(fmax(fmin(value, WHOLE_MAX), -WHOLE_MAX));
}
