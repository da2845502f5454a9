/* SPDX-License-Identifier: MIT */
/*
 * filter.h - a profile with some of it left out: between loading and the view, for all views alike. What the options mean is what they mean to pprof.
 *
 * Regular expressions (pattern.h) are looked for in function names, source files and the paths of modules. First --focus and --ignore choose stacks, by
 * what they were before anything was hidden; then --hide and --show take functions out of them, --show-from the callers of the outermost match, --prune-from
 * the callees of the innermost. A stack of which nothing is left is left out. Tag filters choose what one thread has of blocks of one size. Percentages
 * stay those of the whole (percent_base.h), unless they are to be those of what passes.
 */
#ifndef HI_FILTER_H
#define HI_FILTER_H

#include "filter_options.h"
#include "pattern.h"

#define FILTER_COMPLAINT_MAX (PATTERN_COMPLAINT_MAX + 256u)

/* Whether the texts make sense: 0, -ENOMEM, or -EINVAL, with what is wrong in complaint. */
int filter_check(const struct filter_options *options, char complaint[FILTER_COMPLAINT_MAX]);
/* Would the profile stay as it is? */
bool filter_is_idle(const struct filter_options *options);
/*
 * A new profile, to be closed, of what passes. out_unmatched: bits 1 << enum filter_kind of the filters that nothing has matched, which are likely to be
 * mistyped. As filter_check(), with nothing to close, on failure.
 */
int filter_profile(const struct profile *from, const struct filter_options *options, struct profile *out_profile, unsigned int *out_unmatched);

#endif
