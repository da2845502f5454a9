/* SPDX-License-Identifier: MIT */
/*
 * filter_names.h - what the filters by name make of each frame of a profile, wherever it occurs.
 */
#ifndef HI_FILTER_NAMES_H
#define HI_FILTER_NAMES_H

#include "filter_options.h"
#include "pattern.h"

struct filtered_frame {
	struct profile_line *line; /* what is left of its lines; the array is ours, the texts are the profile's */
	size_t line_count;
	bool is_allocator; /* nothing but functions that no view shows at the end of a stack (allocators.h): nor do filters find them */
	bool is_focused, is_ignored, is_hidden;
	bool is_show_from;  /* what calls it is not shown */
	bool is_prune_from; /* what it calls is not shown */
};

/* By pattern[kind]; bits of the kinds that match something are set in *matched. 0 or -ENOMEM. */
int filter_frame(const struct profile *profile, const struct profile_frame *frame, const struct pattern *pattern, struct filtered_frame *out_frame,
		 unsigned int *matched);
/* Takes away what leads to the source files: the prefixes that the options name, or what comes before a folder that is searched for sources. In place. */
void filter_trim_path(char *file, const struct filter_options *options);

#endif
