/* SPDX-License-Identifier: MIT */
/* cli.h - the command line: one table of commands for dispatch, usage and help. */
#ifndef HI_CLI_H
#define HI_CLI_H

/* Returns an exit code of hi_exit.h. */
int cli_run(int argc, char **argv);

#endif
