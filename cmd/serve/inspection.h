/* SPDX-License-Identifier: MIT */
/*
 * inspection.h - explain, census, leaks and owners for the live page and for curl: what the command
 * prints. It reads the process from outside; nothing in it is changed or stopped, so that this may
 * be killed at any time.
 */
#ifndef HI_SERVE_INSPECTION_H
#define HI_SERVE_INSPECTION_H

#include "route.h"
#include "serve_options.h"
#include "serve_outcome.h"

struct inspection {
	const struct serve_options *options;
	struct serve_route route; /* one of SERVE_INSPECT_... */
	unsigned seconds;         /* from the first look to the last; 0 = what the command has */
	bool as_json;
};

/*
 * Prints to standard output, or what is wrong to standard error, with the rights of the command:
 * in a process of its own, which has to end after that.
 */
enum serve_outcome inspection_answer(const struct inspection *inspection);

#endif
