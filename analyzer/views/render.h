/* SPDX-License-Identifier: MIT */
/*
 * The room views/: what is shown of a profile. render.h is the table of views: enter here; a view is a file render_NAME.c and a line in it. What several
 * views say at their head is in render_header.h. Uses analysis/ and below.
 */

/*
 * render.h - the table of report formats. A new format is one file render_<name>.c and one line in render.c.
 */
#ifndef HI_RENDER_H
#define HI_RENDER_H

#include <stdio.h>

#include "render_options.h"

struct renderer {
	const char *name;     /* the option's name: "text" */
	char letter;          /* its short option, 0 = none */
	const char *argument; /* what the option wants, as help calls it; NULL = nothing */
	const char *ending;   /* of files that hold this view; NULL = none in particular */
	const char *help;
	/* 0 or negative errno; -ENOENT: a program that it needs is missing (render_error says which package). */
	int (*render)(const struct profile *profile, const struct render_options *options, FILE *out);
	bool is_bare; /* its format has no place for the caveats of the profile (caveats.h) */
};
extern const struct renderer renderers[]; /* ends with name == NULL */

#endif
