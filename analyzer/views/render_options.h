/* SPDX-License-Identifier: MIT */
/* render_options.h - how a view is drawn. Each view uses the options that concern it. */
#ifndef HI_RENDER_OPTIONS_H
#define HI_RENDER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "file_source.h"
#include "leaks.h"
#include "profile_set.h"
#include "series.h"
#include "user_frames.h"

enum render_sort { SORT_FLAT, SORT_CUM };

struct render_options {
	enum sample_type type; /* default INUSE_SPACE */
	enum render_sort sort;
	size_t limit; /* rows of text, nodes of the graph; 0 = the format's default */
	/* nodes below this fraction are left out; 0 = the format's default, negative = none are */
	double node_fraction;
	double edge_fraction; /* the same for edges */
	bool no_trim;         /* show everything: limit and fractions do not count */
	bool intervals;       /* text: also print the 95 % interval of each figure */
	bool details;         /* text: also print waste and ages */
	const char *argument; /* the view's argument, if it has one */
	/* directories with source files, separated by colons; NULL = as in the debug information */
	const char *source_path;
	/* prefixes to remove from file names, separated by colons; NULL = none */
	const char *trim_path;
	struct file_wish files; /* disasm, weblist */
	/* massif: one snapshot per file, in the order given (snapshots.h); NULL = there are none */
	struct snapshots *snapshots;
	size_t file_count;           /* files of the new side that were added up */
	struct leaks_tail tail;      /* leaks: the young end of the window */
	const struct series *series; /* growth: the values of the stacks in each file */
	bool is_page;                /* growth: write an HTML page */
	struct profile_set
		*set;       /* html, perfetto: the files one by one; NULL = they are not kept */
	bool call_tree;     /* graph: a node for each way to a function */
	bool drop_negative; /* leave out functions below zero */
	/* tags: only these keys, and not these, as regular expressions; NULL = all, none */
	const char *tagshow, *taghide;
	bool raw; /* text: do not fold what nobody looks at first */
	/* what is, and is not, an allocator or a thin layer above it */
	struct user_frames_options user_frames;
};

/* One line about the last failure to draw a view, with the remedy. */
const char *render_error(void);

#endif
