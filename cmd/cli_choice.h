/* SPDX-License-Identifier: MIT */
/*
 * cli_choice.h - the processes that a command is to work on: a PID, or what they are found by
 * (choice.h).
 *
 * All of them return HI_EXIT_OK, or another exit code once the error is printed.
 */
#ifndef HI_CLI_CHOICE_H
#define HI_CLI_CHOICE_H

#include <stdbool.h>
#include <sys/types.h>

#include "choice.h"
#include "hi_options.h"

/* --name, --cgroup, --unit and --port, for cli_session_parse(). */
enum {
	CLI_CHOICE_NAME = 640,
	CLI_CHOICE_CGROUP,
	CLI_CHOICE_UNIT,
	CLI_CHOICE_PORT,
};
#define CLI_CHOICE_OPTION_LIST                                          \
	{"name", required_argument, NULL, CLI_CHOICE_NAME},             \
		{"cgroup", required_argument, NULL, CLI_CHOICE_CGROUP}, \
		{"unit", required_argument, NULL, CLI_CHOICE_UNIT},     \
	{                                                               \
		"port", required_argument, NULL, CLI_CHOICE_PORT        \
	}
int cli_choice_parse(const char *command, int option, const char *value, struct choice *choice);
/* What is left of the arguments, from argv[first] on, adds to it: a name, or a PID. */
int cli_choice_complete(int argc, char **argv, int first, struct choice *choice, pid_t *out_pid);

/* A PID, or the name of the only process that is called so. */
int cli_choose_process(const char *command, const char *text, pid_t *out_pid);
/* The same of the only argument of a command, which must be argv[first]. */
int cli_choose_only_process(int argc, char **argv, int first, pid_t *out_pid);
/* all: whether --all is given, which goes with what several processes can have. */
int cli_choice_check_all(const char *command, const struct choice *choice, bool all);
/* The only process that is meant; several are listed. */
int cli_choose_one(const char *command, const struct choice *choice, pid_t *out_pid);
/* All that are meant, at least one; to be closed. */
int cli_choose_all(const char *command, const struct choice *choice,
		   struct processes_found *out_found);

#endif
