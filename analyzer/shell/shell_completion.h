/* SPDX-License-Identifier: MIT */
/*
 * shell_completion.h - completes words of the shell: commands, views, options and their values,
 * functions, files.
 */
#ifndef HI_SHELL_COMPLETION_H
#define HI_SHELL_COMPLETION_H

#include "functions.h"
#include "line_editor.h"

struct shell_completion {
	const struct functions *functions;
	const char *const *commands; /* commands that are not views; ends with NULL */
};

/* For line_editor_setup.complete. context: a struct shell_completion. */
int shell_complete(void *context, const char *line, struct line_candidates *out_candidates);

#endif
