/* SPDX-License-Identifier: MIT */
/*
 * style.c - see style.h. Orange and blue are two of the 256 colours. They look the same on light
 * and dark backgrounds, and people with any kind of colour vision can tell them apart.
 */
#include "style.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const sequences[] = {[STYLE_PLAIN] = "",
					[STYLE_HEADING] = "\033[1m",
					[STYLE_DIM] = "\033[2m",
					[STYLE_MORE] = "\033[38;5;202m",
					[STYLE_LESS] = "\033[38;5;33m"};

static const FILE *styled;

int style_when_parse(const char *word, enum style_when *out_when)
{
	static const char *const words[] = {
		[STYLE_AUTO] = "auto", [STYLE_ALWAYS] = "always", [STYLE_NEVER] = "never"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i]) == 0) {
			*out_when = (enum style_when)i;
			return 0;
		}
	}
	return -EINVAL;
}

static bool is_able(int fd)
{
	const char *term = getenv("TERM"), *refused = getenv("NO_COLOR");

	return isatty(fd) && term && *term && strcmp(term, "dumb") != 0 && !(refused && *refused);
}

void style_use(FILE *stream, enum style_when when)
{
	const int fd = stream && when != STYLE_NEVER ? fileno(stream) : -1;
	struct stat status;

	styled = NULL;
	if (fd >= 0 && fstat(fd, &status) == 0 && !S_ISREG(status.st_mode) &&
	    (when == STYLE_ALWAYS || is_able(fd)))
		styled = stream;
}

void style_print(enum style style, FILE *out, const char *format, ...)
{
	const bool is_styled = out == styled && style != STYLE_PLAIN;
	va_list arguments;

	if (is_styled)
		fputs(sequences[style], out);
	va_start(arguments, format);
	vfprintf(out, format, arguments);
	va_end(arguments);
	if (is_styled)
		fputs("\033[0m", out);
}

enum style style_of_change(double value, bool is_difference)
{
	if (!is_difference || !(fabs(value) >= 0.5))
		return STYLE_PLAIN;
	return value > 0 ? STYLE_MORE : STYLE_LESS;
}
