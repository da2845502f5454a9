/* SPDX-License-Identifier: MIT */
/*
 * cli_command.h - the commands that cli.c has in its table. cli_check.c, cli_attach.c,
 * cli_run.c, cli_guard.c, cli_request.c, cli_top.c, cli_serve.c, cli_explain.c,
 * cli_census.c, cli_owners.c, cli_leaks.c and cli_replay.c define them.
 */
#ifndef HI_CLI_COMMAND_H
#define HI_CLI_COMMAND_H

struct command {
	const char *name;
	/* argv[0] is the name; returns an exit code of hi_exit.h */
	int (*run)(int argc, char **argv);
	const char *usage; /* text after the name */
	const char *help;  /* one line */
	const char *text;  /* options and the rest */
};

extern const struct command cli_check, cli_attach, cli_run_program, cli_guard;
extern const struct command cli_dump, cli_detach, cli_status, cli_pause, cli_resume, cli_reset,
	cli_rate, cli_top, cli_serve, cli_explain, cli_census, cli_owners, cli_leaks, cli_replay;

#endif
