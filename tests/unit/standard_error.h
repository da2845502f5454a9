/* SPDX-License-Identifier: MIT */
/*
 * standard_error.h - what a case writes to standard error, which becomes a pipe, or the far end of
 * a pseudo-terminal.
 */
#ifndef HI_TEST_STANDARD_ERROR_H
#define HI_TEST_STANDARD_ERROR_H

#include <fcntl.h>

#include "unit.h"

static int standard_error; /* to read what was written there; does not block */

static inline void into_pipe(void)
{
	int ends[2];

	CHECK_EQ(pipe2(ends, O_NONBLOCK), 0);
	CHECK(dup2(ends[1], STDERR_FILENO) >= 0);
	standard_error = ends[0];
}

static inline void into_terminal(void)
{
	standard_error = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
	CHECK(standard_error >= 0 && grantpt(standard_error) == 0 && unlockpt(standard_error) == 0);
	const int terminal = open(ptsname(standard_error), O_RDWR | O_NOCTTY);
	CHECK(terminal >= 0);
	CHECK(dup2(terminal, STDERR_FILENO) >= 0);
	setenv("TERM", "xterm", 1);
}

/* What has been shown since the last call. */
static inline const char *shown(void)
{
	static char text[8192];
	const ssize_t got = read(standard_error, text, sizeof(text) - 1);

	text[got > 0 ? got : 0] = 0;
	return text;
}

#endif
