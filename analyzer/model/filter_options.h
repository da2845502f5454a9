/* SPDX-License-Identifier: MIT */
/* filter_options.h - what a filter is to leave out of a profile (filter.h). */
#ifndef HI_FILTER_OPTIONS_H
#define HI_FILTER_OPTIONS_H

#include "profile.h"
#include "percent_base.h"

enum filter_kind {
	FILTER_FOCUS,
	FILTER_IGNORE,
	FILTER_HIDE,
	FILTER_SHOW,
	FILTER_SHOW_FROM,
	FILTER_PRUNE_FROM,
	FILTER_TAGFOCUS,
	FILTER_TAGIGNORE,
	FILTER_KINDS
};
extern const char *const filter_names[FILTER_KINDS]; /* the name of the option: "focus" */

struct filter_options {
	const char *text[FILTER_KINDS]; /* NULL = not given */
	/* prefixes of source files that are not shown, separated by colons */
	const char *trim_path;
	/*
	 * directories of source files on this machine, separated by colons: the directories that
	 * lead to the same place on another machine are not shown
	 */
	const char *source_path;
	enum profile_granularity granularity;
	/* keys of tags that become frames (tag_frames.h); NULL = none */
	const char *tagroot, *tagleaf;
	bool no_inlines; /* inlined functions count as their caller */
	/* percentages are of what passes; else of what meta.percent_base says */
	bool relative;
	enum percent_base_of percent_base; /* what the percentages of a comparison are of */
};

#endif
