/* SPDX-License-Identifier: MIT */
/*
 * render_annotated.h - what the views of code, by source line and by instruction, have in common: which functions, and how their figures stand beside it.
 */
#ifndef HI_RENDER_ANNOTATED_H
#define HI_RENDER_ANNOTATED_H

#include <stdbool.h>

#include "functions.h"
#include "render.h"
#include "source_text.h"

/* Lines of source, or instructions, around one that has a figure. */
#define ANNOTATED_CONTEXT 5u

/*
 * Which functions a regular expression (POSIX, extended) matches, by their names; to be freed by the caller. 0 or what render() returns, with what
 * render_error() says: also if none does. view: the option's name.
 */
int annotated_wanted(const char *view, const char *regex, const struct functions *functions, bool **out_wanted);
/* The first two lines of a function; place: the file, or the module and so on. */
void annotated_head(const char *name, const char *place, const struct estimate *flat, const struct estimate *cum, const struct estimate *total,
		    const struct render_options *options, FILE *out);
/* Two columns, and no end of line; a figure that is nothing is a dot. NULL = nothing. */
void annotated_figures(const struct estimate *flat, const struct estimate *cum, enum sample_type type, FILE *out);
/* Where to look for the sources of a module; -1 = it is not known. */
struct source_places annotated_places(const struct render_options *options, const struct profile *profile, int32_t module);

#endif
