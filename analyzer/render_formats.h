/* SPDX-License-Identifier: MIT */
/*
 * render_formats.h - the formats that render.c has in its table, and what they have in common. Contract of each: struct renderer's render().
 */
#ifndef HI_RENDER_FORMATS_H
#define HI_RENDER_FORMATS_H

#include "render.h"

/* pprof's trimming: a function below this part of the total is not shown unless asked for by a limit. */
#define RENDER_NODE_FRACTION 0.005

int render_text(const struct profile *profile, const struct render_options *options, FILE *out);
int render_svg(const struct profile *profile, const struct render_options *options, FILE *out);
int render_list(const struct profile *profile, const struct render_options *options, FILE *out);
int render_disasm(const struct profile *profile, const struct render_options *options, FILE *out);
int render_collapsed(const struct profile *profile, const struct render_options *options, FILE *out);

/* Sets what render_error() says, and returns error. */
int render_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What a render() returns: error or, if there is none, whether out took everything. Says what errno says. */
int render_result(int error, FILE *out);

#endif
