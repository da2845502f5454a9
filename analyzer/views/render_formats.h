/* SPDX-License-Identifier: MIT */
/*
 * render_formats.h - the formats in the table of render.c, and what they have in common. The
 * contract of each function is that of struct renderer's render().
 */
#ifndef HI_RENDER_FORMATS_H
#define HI_RENDER_FORMATS_H

#include <stdio.h>

#include "render_options.h"

int render_text(const struct profile *profile, const struct render_options *options, FILE *out);
int render_tree(const struct profile *profile, const struct render_options *options, FILE *out);
int render_peek(const struct profile *profile, const struct render_options *options, FILE *out);
int render_traces(const struct profile *profile, const struct render_options *options, FILE *out);
int render_threads(const struct profile *profile, const struct render_options *options, FILE *out);
int render_modules(const struct profile *profile, const struct render_options *options, FILE *out);
int render_sizes(const struct profile *profile, const struct render_options *options, FILE *out);
int render_svg(const struct profile *profile, const struct render_options *options, FILE *out);
int render_list(const struct profile *profile, const struct render_options *options, FILE *out);
int render_disasm(const struct profile *profile, const struct render_options *options, FILE *out);
int render_weblist(const struct profile *profile, const struct render_options *options, FILE *out);
int render_collapsed(const struct profile *profile, const struct render_options *options,
		     FILE *out);
int render_pdf(const struct profile *profile, const struct render_options *options, FILE *out);
int render_png(const struct profile *profile, const struct render_options *options, FILE *out);
int render_dot_text(const struct profile *profile, const struct render_options *options, FILE *out);
int render_heap(const struct profile *profile, const struct render_options *options, FILE *out);
int render_pprof(const struct profile *profile, const struct render_options *options, FILE *out);
int render_topproto(const struct profile *profile, const struct render_options *options, FILE *out);
int render_raw(const struct profile *profile, const struct render_options *options, FILE *out);
int render_comments(const struct profile *profile, const struct render_options *options, FILE *out);
int render_tags(const struct profile *profile, const struct render_options *options, FILE *out);
int render_speedscope(const struct profile *profile, const struct render_options *options,
		      FILE *out);
int render_callgrind(const struct profile *profile, const struct render_options *options,
		     FILE *out);
int render_dhat(const struct profile *profile, const struct render_options *options, FILE *out);
int render_massif(const struct profile *profile, const struct render_options *options, FILE *out);
int render_firefox(const struct profile *profile, const struct render_options *options, FILE *out);
int render_perfetto(const struct profile *profile, const struct render_options *options, FILE *out);
int render_grafana(const struct profile *profile, const struct render_options *options, FILE *out);
int render_json(const struct profile *profile, const struct render_options *options, FILE *out);
int render_leaks(const struct profile *profile, const struct render_options *options, FILE *out);
int render_growth(const struct profile *profile, const struct render_options *options, FILE *out);
int render_temporary(const struct profile *profile, const struct render_options *options,
		     FILE *out);
int render_kept(const struct profile *profile, const struct render_options *options, FILE *out);
int render_waste(const struct profile *profile, const struct render_options *options, FILE *out);
int render_flame(const struct profile *profile, const struct render_options *options, FILE *out);
int render_html(const struct profile *profile, const struct render_options *options, FILE *out);
/* The same page, opened at what grows over the files. */
int render_growth_page(const struct profile *profile, const struct render_options *options,
		       FILE *out);
int render_symbolize(const struct profile *profile, const struct render_options *options,
		     FILE *out);

#define RENDER_UNKNOWN "[unknown]" /* the name of an unknown stack */

/* Returns 0, or -EINVAL if the profile is a comparison, which this format cannot represent. */
int render_refuse_comparison(const struct profile *profile, const char *format);
/* Returns 0, or -EINVAL if `out` is a terminal, which cannot show this format. */
int render_refuse_terminal(FILE *out, const char *format);
/* Sets the text of render_error(), and returns `error`. */
int render_fail(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * The result of a render(): `error`, or if that is 0, whether `out` accepted all output. Sets the
 * text of render_error() from errno.
 */
int render_result(int err, FILE *out);

#endif
