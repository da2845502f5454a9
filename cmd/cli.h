/* SPDX-License-Identifier: MIT */
/*
 * Room cmd/: the command line. cli.c has the table of commands; cli_check.c, cli_attach.c,
 * cli_guard.c and cli_request.c are the commands (cli_command.h); cli_arguments.h and cli_session.h
 * are what they have in common.
 * session/ below it has the sessions, output/ the files.
 */

/* cli.h - the command line: one table of commands for dispatch, usage and help. */
#ifndef HI_CLI_H
#define HI_CLI_H

/* Returns an exit code of hi_exit.h. */
int cli_run(int argc, char **argv);

#endif
