/* SPDX-License-Identifier: MIT */
/*
 * line_editor.h - reads lines that are typed at a terminal, with history and completion. Only
 * line_editor.c uses libedit.
 *
 * Ctrl-C discards the line. Ctrl-D on an empty line ends the input. The history is kept in a file
 * that only its owner can read.
 */
#ifndef HI_LINE_EDITOR_H
#define HI_LINE_EDITOR_H

#include <stddef.h>

/* The possible completions of the word at the cursor. */
struct line_candidates {
	size_t start; /* of that word in the line */
	char **text;  /* whole words */
	size_t count, room;
};
/* Adds a copy of the text. Returns 0 or -ENOMEM. */
int line_candidates_add(struct line_candidates *candidates, const char *text);

struct line_editor_setup {
	const char *prompt;
	const char *history; /* path of the history file; NULL = none is kept */
	/*
	 * Adds completions to an empty list. line: the text up to the cursor. Returns 0 or -ENOMEM.
	 */
	int (*complete)(void *context, const char *line, struct line_candidates *out_candidates);
	void *context;
};
struct line_editor;

/*
 * The editor reads standard input and writes to standard output. The setup must outlive it. Returns
 * 0 or -ENOMEM.
 */
int line_editor_open(const struct line_editor_setup *setup, struct line_editor **out_editor);
/*
 * Returns the next line without its end; "" for a discarded line; NULL at the end of the input. The
 * line is valid until the next call.
 */
const char *line_editor_read(struct line_editor *editor);
/* Prints the lines so far, oldest first. */
void line_editor_print_history(struct line_editor *editor);
/* Saves the history if possible, and closes the editor. */
void line_editor_close(struct line_editor *editor);

#endif
