/* SPDX-License-Identifier: MIT */
/*
 * shell_view.h - one view of the shell: the command line of report that it corresponds to, and the
 * child process that makes it.
 */
#ifndef HI_SHELL_VIEW_H
#define HI_SHELL_VIEW_H

#include "report_options.h"
#include "shell_settings.h"

/*
 * Makes the view that the options name. It may change the profile, which is a copy for this view.
 * It prints what went wrong. Returns 0 or negative errno.
 */
typedef int shell_show(const struct report_options *options, struct profile *profile);

struct shell_view {
	const char *command; /* "report" or "diff" */
	struct profile *profile;
	shell_show *show;
	const struct shell_settings *settings;
	const char *name;  /* of the renderer */
	const char *limit; /* as for -n; NULL = the view's default */
	/*
	 * the words after the name: the view's argument, if it has one; then numbers, regular
	 * expressions and options
	 */
	char *const *word;
	size_t word_count;
	int output_fd; /* -1 = standard output */
};

/* The view of this name, or NULL. */
const struct renderer *shell_renderer(const char *name);
/* True if the options are valid. Otherwise it prints what is wrong. */
bool shell_view_is_right(const struct shell_view *view);
/*
 * Runs the view and waits for it. Returns 0 or negative errno; the error message was already
 * printed.
 */
int shell_view_run(const struct shell_view *view);
/* Prints a line on standard error. */
void shell_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
