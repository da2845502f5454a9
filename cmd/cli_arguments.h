/* SPDX-License-Identifier: MIT */
/*
 * cli_arguments.h - what several commands read from their arguments, and how they complain.
 *
 * All of them return HI_EXIT_OK, or HI_EXIT_USAGE once the error is printed.
 */
#ifndef HI_CLI_ARGUMENTS_H
#define HI_CLI_ARGUMENTS_H

#include <sys/types.h>

#include "hi_allocator_names.h"
#include "hi_options.h"

#define CLI_MORE_OPTIONS 512 /* from here on, codes of options that only one command has */
#define CLI_OFF "off"        /* value of a switch that is given as --name=false */

/* Prints what is wrong, with the value if there is one, and where to read on. */
int cli_usage_error(const char *command, const char *what, const char *value);
/* The same for an option; code: as of hi_options_next(). */
int cli_option_error(const char *command, int code, const struct hi_options *given);
int cli_parse_pid(const char *command, const char *text, pid_t *out_pid);
/* argument: of --prefix */
int cli_parse_prefix(const char *command, const char *argument, struct hi_prefixes *prefixes);

#endif
