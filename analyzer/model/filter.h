/* SPDX-License-Identifier: MIT */
/*
 * filter.h - makes a profile with a part of another left out: between loading and the view, for all
 * views alike. The options mean what they mean to pprof.
 *
 * Regular expressions (pattern.h) are searched for in function names, source files and module
 * paths. First --focus and --ignore choose stacks, by their frames before anything is hidden. Then
 * --hide and --show remove functions from the stacks, --show-from the callers of the outermost
 * match, and --prune-from the callees of the innermost match. A stack of which nothing is left is
 * left out. Tag filters choose what one thread has of blocks of one size. Percentages stay those of
 * the whole profile (percent_base.h), unless the options ask for those of what passes.
 */
#ifndef HI_FILTER_H
#define HI_FILTER_H

#include "filter_options.h"
#include "pattern.h"

#define FILTER_COMPLAINT_MAX (PATTERN_COMPLAINT_MAX + 256u)

/* Checks the texts of the options. 0, -ENOMEM, or -EINVAL with the reason in complaint. */
int filter_check(const struct filter_options *options, char complaint[FILTER_COMPLAINT_MAX]);
/* True if the options leave a profile as it is. */
bool filter_is_idle(const struct filter_options *options);
/*
 * Makes a new profile of what passes; the caller closes it. out_unmatched: bits 1 << enum
 * filter_kind of the filters that matched nothing, which are likely to be mistyped. Returns as
 * filter_check(); on failure there is nothing to close.
 */
int filter_profile(const struct profile *from, const struct filter_options *options,
		   struct profile *out_profile, unsigned int *out_unmatched);

#endif
