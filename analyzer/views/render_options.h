/* SPDX-License-Identifier: MIT */
/* render_options.h - how a view is to be drawn. Each view takes those that concern it. */
#ifndef HI_RENDER_OPTIONS_H
#define HI_RENDER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "leaks.h"
#include "series.h"

enum render_sort { SORT_FLAT, SORT_CUM };

struct render_options {
	enum sample_type type; /* default INUSE_SPACE */
	enum render_sort sort;
	size_t limit;                /* rows of text, nodes of the graph; 0 = the format's default */
	double node_fraction;        /* what is below that part is left out; 0 = the format's default, negative = nothing is */
	double edge_fraction;        /* likewise of calls */
	bool no_trim;                /* everything is shown: neither limit nor fractions count */
	bool intervals;              /* text: the 95 % interval of each figure, too */
	bool details;                /* text: waste and ages */
	const char *argument;        /* of the view, if it wants one */
	const char *source_path;     /* where source files may lie, separated by colons; NULL = where the debug information says */
	const char *trim_path;       /* prefixes that names of files begin with elsewhere, likewise; NULL = none */
	const char *binary;          /* disasm: the main program's file; NULL = find it */
	struct snapshots *snapshots; /* massif: of several files, in the order given (snapshots.h); NULL = not taken */
	size_t file_count;           /* of the new side */
	struct leaks_tail tail;      /* leaks: what counts as young */
	const struct series *series; /* growth: what the stacks held in each file */
	bool is_page;                /* growth: as an HTML page */
};

/* One line about the last failure to draw one, with the remedy. */
const char *render_error(void);

#endif
