/* SPDX-License-Identifier: MIT */
/*
 * style.h - colour in text that somebody reads at a terminal, and nowhere else.
 *
 * One stream at a time is styled, and only if it is said so: what is written to any other, to a buffer say, stays as it is.
 */
#ifndef HI_STYLE_H
#define HI_STYLE_H

#include <stdbool.h>
#include <stdio.h>

enum style {
	STYLE_PLAIN,
	STYLE_HEADING, /* of a report, of columns */
	STYLE_DIM,     /* lines between others, and what is said about the rest */
	STYLE_MORE,    /* orange: what has grown */
	STYLE_LESS,    /* blue: what has become less */
};
/* AUTO: at a terminal, unless TERM says that it can do nothing (dumb, or none), or NO_COLOR that nobody wants it. ALWAYS: also through a pipe. */
enum style_when { STYLE_AUTO, STYLE_ALWAYS, STYLE_NEVER };

/* "auto", "always", "never": 0 or -EINVAL. */
int style_when_parse(const char *word, enum style_when *out_when);
/* From now on this stream is styled, or none is (also if it is NULL). A regular file never is. */
void style_use(FILE *stream, enum style_when when);
/* As fprintf(), of a part of a line or a whole one, without its newline; widths are those of what is seen. */
void style_print(enum style style, FILE *out, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* What a figure is to look like: one that is a difference, and that is not shown as 0, by its sign. */
enum style style_of_change(double value, bool is_difference);

#endif
