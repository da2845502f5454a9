/* SPDX-License-Identifier: MIT */
/*
 * filter_names.h - applies the filters by name to a frame of a profile, wherever the frame occurs.
 */
#ifndef HI_FILTER_NAMES_H
#define HI_FILTER_NAMES_H

#include "filter_options.h"
#include "pattern.h"

struct filtered_frame {
	/* the lines that are left; the caller frees the array, the texts are the profile's */
	struct profile_line *line;
	size_t line_count;
	/*
	 * has only functions that no view shows at the leaf of a stack (allocators.h); filters do
	 * not match them either
	 */
	bool is_allocator;
	bool is_focused, is_ignored, is_hidden;
	bool is_show_from;  /* its callers are not shown */
	bool is_prune_from; /* its callees are not shown */
};

/*
 * pattern: by enum filter_kind. Sets in *matched the bits 1 << kind of the filters that match
 * something. 0 or -ENOMEM.
 */
int filter_frame(const struct profile *profile, const struct profile_frame *frame,
		 const struct pattern *pattern, struct filtered_frame *out_frame,
		 unsigned int *matched);
/*
 * Removes, in place, the directories that lead to a source file: the prefixes in options->trim_path
 * or, without that, everything up to and with a directory that has the name of one in
 * options->source_path.
 */
void filter_trim_path(char *file, const struct filter_options *options);

#endif
