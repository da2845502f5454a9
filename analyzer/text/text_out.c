/* SPDX-License-Identifier: MIT */
/* text_out.c - see text_out.h. */
#include "text_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"

#define WHOLE_MAX 0x1p62

/* The caller frees it. NULL = out of memory: then the stream would run out of memory, too. */
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
	for (const char *at = copy; *at;) {
		const size_t plain = strcspn(at, "\"\\");

		fwrite(at, 1, plain, out);
		at += plain;
		if (*at) {
			putc('\\', out);
			putc(*at++, out);
		}
	}
	putc('"', out);
	free(copy);
}

#define DIGITS_MAX 20 /* of 2^64 */

/* The digits, from the end of the buffer backwards. Returns the first one. */
static char *digits_of(uint64_t number, char *end)
{
	do {
		*--end = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	return end;
}

void text_count(uint64_t number, FILE *out)
{
	char text[DIGITS_MAX];
	const char *first = digits_of(number, text + sizeof(text));

	fwrite(first, 1, (size_t)(text + sizeof(text) - first), out);
}

void text_number(int64_t number, FILE *out)
{
	if (number < 0)
		putc('-', out);
	text_count(number < 0 ? 0 - (uint64_t)number : (uint64_t)number, out);
}

int64_t text_whole(double value)
{
	return isnan(value) ? 0 : llround(fmax(fmin(value, WHOLE_MAX), -WHOLE_MAX));
}

int64_t text_sum(int64_t left, int64_t right)
{
	int64_t sum;

	if (__builtin_add_overflow(left, right, &sum))
		return left < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}
