/* SPDX-License-Identifier: MIT */
/*
 * render_header.h - what every report says first: whose profile it is, how it was taken, how much there is and how sure that is.
 */
#ifndef HI_RENDER_HEADER_H
#define HI_RENDER_HEADER_H

#include "render.h"

/* Whole lines. total is the estimate for the whole profile, of the type that is shown. */
void render_header(const struct profile *profile, enum sample_type type, const struct estimate *total, FILE *out);
/* "1.50MB" or "1500", by type. Returns text, which holds at least HI_UNITS_TEXT_MAX bytes. */
char *render_value(double value, enum sample_type type, char *text);
/* "12.34%" as pprof writes it, six characters. */
char *render_percent(double value, double total, char *text);

#endif
