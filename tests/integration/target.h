/* SPDX-License-Identifier: MIT */
/*
 * target.h - how a test target talks with its script: it says "ready", then reads commands from
 * standard input, one a line, and answers each with one line. Nothing here allocates, so that the
 * target's own figures are the whole truth.
 */
#ifndef TARGET_H
#define TARGET_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TARGET_COMMAND_MAX 256
#define TARGET_PATIENCE_MS 30000 /* a thread that works may get no CPU for seconds */

/* One line without its newline; false at the end of input. */
static inline int target_read(char command[TARGET_COMMAND_MAX])
{
	size_t length = 0;
	char byte;

	while (read(STDIN_FILENO, &byte, 1) == 1) {
		if (byte == '\n') {
			command[length] = 0;
			return 1;
		}
		if (length < TARGET_COMMAND_MAX - 1)
			command[length++] = byte;
	}
	return 0;
}

#define target_say(...) dprintf(STDOUT_FILENO, __VA_ARGS__)

#endif
