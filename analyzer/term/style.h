/* SPDX-License-Identifier: MIT */
/*
 * Room term/: what a terminal shows beside a report's text. Colours are in style.h, the progress
 * bar on standard error is in progress_bar.h. Uses nothing else.
 */

/*
 * style.h - colour in text on a terminal, and nowhere else.
 *
 * One stream at a time is styled, and only after style_use(). Text that is written to any other
 * stream, such as a buffer, stays as it is.
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
/*
 * AUTO: on a terminal, unless TERM says that it has no colours (dumb, or none), or NO_COLOR is set.
 * ALWAYS: also through a pipe.
 */
enum style_when { STYLE_AUTO, STYLE_ALWAYS, STYLE_NEVER };

/* "auto", "always", "never": 0 or -EINVAL. */
int style_when_parse(const char *word, enum style_when *out_when);
/*
 * From now on this stream is styled or, depending on `when` or if it is NULL, none. A regular file
 * never is.
 */
void style_use(FILE *stream, enum style_when when);
/*
 * As fprintf(), in this style. The text is a line or a part of one, without its newline. Field
 * widths are those of the visible text.
 */
void style_print(enum style style, FILE *out, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The style of a figure: by its sign if it is a difference and is not shown as 0, else plain. */
enum style style_of_change(double value, bool is_difference);

#endif
