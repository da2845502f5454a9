/* SPDX-License-Identifier: MIT */
/*
 * shell_view.h - one view of the shell: the command line of report that it stands for, and the child process that makes it.
 */
#ifndef HI_SHELL_VIEW_H
#define HI_SHELL_VIEW_H

#include "report_options.h"
#include "shell_settings.h"

/* Makes the view that the options name, and may change the profile, which is a copy for this view; says what went wrong. 0 or negative errno. */
typedef int shell_show(const struct report_options *options, struct profile *profile);

struct shell_view {
	const char *command; /* "report" or "diff" */
	struct profile *profile;
	shell_show *show;
	const struct shell_settings *settings;
	const char *name;  /* of the renderer */
	const char *limit; /* as -n has it; NULL = the view's own */
	char *const *word; /* behind the name: the view's argument, if it wants one; then numbers, regular expressions, options */
	size_t word_count;
	int output_fd; /* -1 = standard output */
};

/* The view of this name, or NULL. */
const struct renderer *shell_renderer(const char *name);
/* Whether the options are as they should be; says what is wrong with them. */
bool shell_view_is_right(const struct shell_view *view);
/* Waits for it. 0 or negative errno; what went wrong has been said. */
int shell_view_run(const struct shell_view *view);
/* A line on standard error. */
void shell_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
