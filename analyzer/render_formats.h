/* SPDX-License-Identifier: MIT */
/*
 * render_formats.h - the formats that render.c has in its table, and what they have in common. Contract of each: struct renderer's render().
 */
#ifndef HI_RENDER_FORMATS_H
#define HI_RENDER_FORMATS_H

#include "render.h"

int render_text(const struct profile *profile, const struct render_options *options, FILE *out);
int render_tree(const struct profile *profile, const struct render_options *options, FILE *out);
int render_peek(const struct profile *profile, const struct render_options *options, FILE *out);
int render_traces(const struct profile *profile, const struct render_options *options, FILE *out);
int render_threads(const struct profile *profile, const struct render_options *options, FILE *out);
int render_modules(const struct profile *profile, const struct render_options *options, FILE *out);
int render_sizes(const struct profile *profile, const struct render_options *options, FILE *out);
int render_svg(const struct profile *profile, const struct render_options *options, FILE *out);
int render_collapsed(const struct profile *profile, const struct render_options *options, FILE *out);

/* Sets what render_error() says, and returns error. */
int render_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What a render() returns: error or, if there is none, whether out took everything. Says what errno says. */
int render_result(int error, FILE *out);

#endif
