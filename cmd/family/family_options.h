/* SPDX-License-Identifier: MIT */
/* family_options.h - what is asked of a family. */
#ifndef HI_FAMILY_OPTIONS_H
#define HI_FAMILY_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "processes_found.h"
#include "session.h"

struct family_options {
	const struct session_options *session; /* of each; its pid is not used */
	const struct processes_found *found;
	char **argv; /* of a program that is started, and is the first of them; NULL = there is none
		      */
	bool follows_fork;
	size_t children_max; /* that have sessions at a time */
};

#endif
