/* SPDX-License-Identifier: MIT */
/* render_units.h - how all views write figures: in which unit, and percentages. */
#ifndef HI_RENDER_UNITS_H
#define HI_RENDER_UNITS_H

#include "estimate.h"

/*
 * Sets the unit in which all views write all sizes, from "kb", "megabytes", "auto". Returns 0 or
 * -EINVAL. "auto", the default, chooses a unit for each size.
 */
int render_use_unit(const char *name);
/*
 * With "minimum", all sizes from now on have the unit in which the smallest of these can be read,
 * as in pprof; not below a hundredth of the largest one's. Otherwise this does nothing.
 */
void render_fit_unit(double smallest, double largest);
/* All values are written divided by this; 1 is the default. */
void render_divide_by(double by);
/* "1.5MB", as pprof writes it in its list of tags: not divided. Likewise. */
char *render_value_short(double value, enum sample_type type, char *text);
/* "1.50MB", of a size that is no value of the profile: not divided, in the unit of all values. */
char *render_size(double bytes, char *text);
/*
 * Writes "1.50MB" or "1500", depending on the type, into text, which has room for at least
 * HI_UNITS_TEXT_MAX bytes. Returns text.
 */
char *render_value(double value, enum sample_type type, char *text);
/* "12.34%" as pprof writes it: six characters. */
char *render_percent(double value, double total, char *text);

#endif
