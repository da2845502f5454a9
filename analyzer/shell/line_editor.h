/* SPDX-License-Identifier: MIT */
/*
 * line_editor.h - lines typed at a terminal, with history and completion. Only its .c knows libedit.
 *
 * Ctrl-C gives the line up, Ctrl-D on an empty one ends the input. The history is kept in a file that only its owner may read.
 */
#ifndef HI_LINE_EDITOR_H
#define HI_LINE_EDITOR_H

#include <stddef.h>

/* What the word at the cursor may become. */
struct line_candidates {
	size_t start; /* of that word in the line */
	char **text;  /* whole words */
	size_t count, room;
};
/* Copies. 0 or -ENOMEM. */
int line_candidates_add(struct line_candidates *candidates, const char *text);

struct line_editor_setup {
	const char *prompt;
	const char *history; /* file, or NULL: none is kept */
	/* Fills an empty list, given the line up to the cursor. 0 or -ENOMEM. */
	int (*complete)(void *context, const char *line, struct line_candidates *out_candidates);
	void *context;
};
struct line_editor;

/* Reads standard input and writes to standard output; the setup must outlive it. 0 or -ENOMEM. */
int line_editor_open(const struct line_editor_setup *setup, struct line_editor **out_editor);
/* The next line, without its end, "" for one that was given up; NULL at the end of the input. Valid until the next one. */
const char *line_editor_read(struct line_editor *editor);
/* The lines so far, oldest first. */
void line_editor_print_history(struct line_editor *editor);
/* Saves the history, as far as that is possible. */
void line_editor_close(struct line_editor *editor);

#endif
