/* SPDX-License-Identifier: MIT */
/*
 * shell_completion.h - what a word of the shell may become: commands, views, options and their values, functions, files.
 */
#ifndef HI_SHELL_COMPLETION_H
#define HI_SHELL_COMPLETION_H

#include "functions.h"
#include "line_editor.h"

struct shell_completion {
	const struct functions *functions;
	const char *const *commands; /* that are no views; up to NULL */
};

/* As line_editor_setup.complete; context: a struct shell_completion. */
int shell_complete(void *context, const char *line, struct line_candidates *out_candidates);

#endif
