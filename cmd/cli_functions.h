/* SPDX-License-Identifier: MIT */
/*
 * cli_functions.h - functions of pools that are named on the command line: --alloc-fn
 * NAME:SIZE[:PTR][@POOL], and --free-fn NAME:PTR or NAME:@POOL. NAME may be OBJECT!NAME; SIZE may
 * be N*M, with an i behind the number of an int; PTR may be *N.
 */
#ifndef HI_CLI_FUNCTIONS_H
#define HI_CLI_FUNCTIONS_H

#include "named_function.h"

/* They add one. HI_EXIT_OK, or HI_EXIT_USAGE once the error is printed. */
int cli_parse_alloc_fn(const char *command, const char *argument,
		       struct named_functions *functions);
int cli_parse_free_fn(const char *command, const char *argument, struct named_functions *functions);

#endif
