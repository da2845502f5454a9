/* SPDX-License-Identifier: MIT */
/*
 * The room views/: what is shown of a profile. render.h is the table of views: enter here; a view is a file render_NAME.c and a line in it. What several
 * views say at their head is in render_header.h. Uses analysis/ and below.
 */

/*
 * render.h - the table of report formats. A new format is one file render_<name>.c and one line in render.c.
 */
#ifndef HI_RENDER_H
#define HI_RENDER_H

#include <stdio.h>

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

struct renderer {
	const char *name;     /* the option's name: "text" */
	char letter;          /* its short option, 0 = none */
	const char *argument; /* what the option wants, as help calls it; NULL = nothing */
	const char *ending;   /* of files that hold this view; NULL = none in particular */
	const char *help;
	/* 0 or negative errno; -ENOENT: a program that it needs is missing (render_error says which package). */
	int (*render)(const struct profile *profile, const struct render_options *options, FILE *out);
	bool is_bare; /* its format has no place for the caveats of the profile (caveats.h) */
};
extern const struct renderer renderers[]; /* ends with name == NULL */
/* One line about the last failure of render(), with the remedy. */
const char *render_error(void);

#endif
