/* SPDX-License-Identifier: MIT */
/* report_command_line.h - parses the command lines of `heapinject report` and `heapinject diff`. */
#ifndef HI_REPORT_COMMAND_LINE_H
#define HI_REPORT_COMMAND_LINE_H

#include "report_options.h"

/*
 * Parses the arguments after argv[0], which is the command. Returns 0, or negative errno after it
 * has printed what is wrong. Keeps pointers into argv.
 */
int report_options_parse(int argc, char **argv, struct report_options *out_options);

#endif
