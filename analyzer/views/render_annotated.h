/* SPDX-License-Identifier: MIT */
/*
 * render_annotated.h - what the views of code, by source line and by instruction, have in common:
 * which functions they show, and how they print the figures beside the code.
 */
#ifndef HI_RENDER_ANNOTATED_H
#define HI_RENDER_ANNOTATED_H

#include <stdbool.h>

#include "functions.h"
#include "render.h"
#include "source_text.h"

/* How many source lines, or instructions, are shown around one that has a figure. */
#define ANNOTATED_CONTEXT 5u

/*
 * Finds the functions whose names match a regular expression (POSIX extended). The caller frees
 * *out_wanted. view: the option's name. Returns 0, or an error for render() to return, with the
 * reason in render_error(). It is an error if no function matches.
 */
int annotated_wanted(const char *view, const char *regex, const struct functions *functions,
		     bool **out_wanted);
/* Prints the first two lines of a function. place: its file or module. */
void annotated_head(const char *name, const char *place, const struct estimate *flat,
		    const struct estimate *cum, const struct estimate *total,
		    const struct render_options *options, FILE *out);
/* Prints two columns without an end of line. A figure of zero is a dot. */
void annotated_figures(double flat, double cum, enum sample_type type, FILE *out);
/* Where to look for the sources of a module. module: -1 = unknown. */
struct source_places annotated_places(const struct render_options *options,
				      const struct profile *profile, int32_t module);

#endif
