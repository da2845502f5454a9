/* SPDX-License-Identifier: MIT */
/*
 * program.h - runs another program as a filter: bytes in, bytes out.
 */
#ifndef HI_PROGRAM_H
#define HI_PROGRAM_H

#include <stddef.h>
#include <stdio.h>

struct program_input {
	const char *bytes;
	size_t size;
	unsigned int patience_ms; /* time limit; 0 = none */
};

/*
 * Runs argv[0], found by PATH and without a shell, and copies its output to out. 0; -ENOENT = no
 * such program; -EIO = it failed, and error (always ended by NUL) holds the first line of its error
 * output; -ETIMEDOUT = it was still running at the time limit, and was killed; or another negative
 * errno. Waits for the program. If we are killed meanwhile, it is killed, too.
 */
int program_filter(char *const argv[], const struct program_input *input, FILE *out, char err[256]);

#endif
