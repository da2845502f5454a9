/* SPDX-License-Identifier: MIT */
/*
 * shell_settings.h - options of the report that stay in force in the shell until they are changed:
 * NAME=VALUE means --NAME=VALUE on the command line.
 *
 * report_options.h defines the options. A name may be written with _ for -, as in pprof. Options
 * that only matter while files are read, or that select a view, cannot be set. Of several options
 * that say the same in other words one is kept: --lines is granularity=lines.
 */
#ifndef HI_SHELL_SETTINGS_H
#define HI_SHELL_SETTINGS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "estimate.h"

#define SHELL_SETTINGS_MAX 128u

struct shell_settings {
	char *argument[SHELL_SETTINGS_MAX]; /* "--name=value" or "--name" */
	size_t count;
	char **fixed; /* options of the command line that cannot be changed */
	size_t fixed_count;
	/*
	 * the arguments of the command line that are not options; they live as long as the command
	 * line
	 */
	char **file;
	size_t file_count;
};

/*
 * Copies the options of a command line that report_options_parse() has accepted. Returns 0 or
 * -ENOMEM.
 */
int shell_settings_open(int argc, char **argv, struct shell_settings *out_settings);
void shell_settings_close(struct shell_settings *settings);
/* The settable option of this name, under its primary name; NULL = none. */
const struct option *shell_settings_find(const char *name, size_t size);
/* value: NULL for an option without an argument, or true or false. Returns 0, -ENOMEM or -ENOSPC.
 */
int shell_settings_set(struct shell_settings *settings, const struct option *option,
		       const char *value);
/* Returns false if the option was not set. */
bool shell_settings_unset(struct shell_settings *settings, const struct option *option);
/*
 * What the option is set to: "true" for one without an argument; NULL = it is not set. Lives until
 * the settings change.
 */
const char *shell_settings_value(const struct shell_settings *settings,
				 const struct option *option);
/* Prints all options that can be set. type: what is counted if nothing is set. */
void shell_settings_print(const struct shell_settings *settings, enum sample_type type, FILE *out);

#endif
