/* SPDX-License-Identifier: MIT */
/*
 * Room views/: how a profile is shown. Start at render.h, the table of views. A view is a file
 * render_NAME.c and a line in this table. What several views print as their header is in
 * render_header.h. Uses analysis/ and below.
 */

/*
 * render.h - the table of report formats. A new format is one file render_<name>.c and one line in
 * render.c.
 */
#ifndef HI_RENDER_H
#define HI_RENDER_H

#include <stdio.h>

#include "render_options.h"

struct renderer {
	const char *name;     /* the option's name: "text" */
	char letter;          /* its short option, 0 = none */
	const char *argument; /* the option's argument, as the help calls it; NULL = none */
	const char *ending;   /* file name ending of this view's files; NULL = none in particular */
	const char *help;
	/*
	 * Returns 0 or negative errno; -ENOENT: a program that the view needs is missing
	 * (render_error() names its package).
	 */
	int (*render)(const struct profile *profile, const struct render_options *options,
		      FILE *out);
	bool is_bare; /* the format has no place for the profile's caveats (caveats.h) */
};
extern const struct renderer renderers[]; /* ends with name == NULL */

#endif
