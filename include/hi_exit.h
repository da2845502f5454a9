/* SPDX-License-Identifier: MIT */
/* hi_exit.h - exit codes of the heapinject command, as documented in --help and heapinject(1). */
#ifndef HI_EXIT_H
#define HI_EXIT_H

enum hi_exit {
	HI_EXIT_OK = 0,
	/* something went wrong; the message says what, and what state the target is in */
	HI_EXIT_FAILED = 1,
	HI_EXIT_USAGE = 2,   /* the command line is wrong; nothing was touched */
	HI_EXIT_REFUSED = 3, /* this target cannot be attached to (now); nothing was touched */
	HI_EXIT_ABOVE = 4,   /* a report's figure is above --fail-above */
	/*
	 * a report is not reliable: the records contradict each other, or are not complete (enum
	 * hi_caveat)
	 */
	HI_EXIT_UNSURE = 5,
	/* `run --fail-if-leaks`: blocks leaked; as LeakSanitizer has it */
	HI_EXIT_LEAKS = 23,
	/* `run`: the program cannot be executed, or is not there; as env and shells have it */
	HI_EXIT_NOT_EXECUTABLE = 126,
	HI_EXIT_NOT_FOUND = 127,
	HI_EXIT_BY_SIGNAL = 128, /* `run`: and the number of the signal that ended the program */
};

#endif
