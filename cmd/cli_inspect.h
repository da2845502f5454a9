/* SPDX-License-Identifier: MIT */
/* cli_inspect.h - explain, census, leaks and owners, run for pages of `serve`. */
#ifndef HI_CLI_INSPECT_H
#define HI_CLI_INSPECT_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Runs the command of this name, which prints. seconds: --duration, 0 = none. Returns an exit code;
 * the process has to end with it, as it may have given up its rights.
 */
int cli_inspect(const char *name, pid_t pid, unsigned seconds, bool as_json);

#endif
