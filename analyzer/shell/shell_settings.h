/* SPDX-License-Identifier: MIT */
/*
 * shell_settings.h - options of the report that stay in force in the shell until they are changed: NAME=VALUE is --NAME=VALUE on the command line.
 *
 * Which options there are, report_options says. Names may be written with _ for -, as pprof does. Those that only count while files are read, or that say what
 * is shown, cannot be set.
 */
#ifndef HI_SHELL_SETTINGS_H
#define HI_SHELL_SETTINGS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SHELL_SETTINGS_MAX 128u

struct shell_settings {
	char *argument[SHELL_SETTINGS_MAX]; /* "--name=value" or "--name" */
	size_t count;
	char **fixed; /* of the command line, and not to be changed */
	size_t fixed_count;
	char **file; /* what is no option in it; lives as long as the command line */
	size_t file_count;
};

/* Takes the options of a command line that report_options_parse() has taken. 0 or -ENOMEM. */
int shell_settings_open(int argc, char **argv, struct shell_settings *out_settings);
void shell_settings_close(struct shell_settings *settings);
/* The option of this name that may be set, under its first name, or NULL. */
const struct option *shell_settings_find(const char *name, size_t size);
/* value: NULL for an option that wants none. 0, -ENOMEM, or -ENOSPC. */
int shell_settings_set(struct shell_settings *settings, const struct option *option, const char *value);
/* False if it was not set. */
bool shell_settings_unset(struct shell_settings *settings, const struct option *option);
void shell_settings_print(const struct shell_settings *settings, FILE *out);

#endif
