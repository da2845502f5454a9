/* SPDX-License-Identifier: MIT */
/* Room options/: the command line of report and its help. Uses views/ and below. */

/*
 * report_options.h - the command lines of `heapinject report` and `heapinject diff`. Their help is
 * in report_help.c.
 */
#ifndef HI_REPORT_OPTIONS_H
#define HI_REPORT_OPTIONS_H

#include "filter.h"
#include "render.h"
#include "style.h"
#include "symbols.h"

#define REPORT_FILES_MAX 4096u

struct report_options {
	const char *command; /* "report" or "diff" */
	int argc;            /* as given, but reordered: options first */
	char **argv;
	char **file; /* "-" = standard input; several files are added up (report_sum.h) */
	size_t file_count;
	/* the files that they are compared with; several are added up, too */
	const char *base[REPORT_FILES_MAX];
	size_t base_count;
	struct filter_options filter;
	const char *output; /* NULL = standard output */
	const struct renderer *renderer;
	bool has_view; /* a view was named; otherwise renderer is the default */
	struct render_options render;
	enum style_when color;
	uint64_t fail_above; /* bytes; 0 = no limit */
	bool adds_up;        /* snapshots of one session are added up, too */
	bool as_is;          /* windows of different length are compared as they are */
	bool scale_base;     /* the base is scaled to the window of the other side */
	struct symbols_options symbols;
	bool help;
};

/*
 * Parses the arguments after argv[0], which is the command. Returns 0, or negative errno after it
 * has printed what is wrong. Keeps pointers into argv.
 */
int report_options_parse(int argc, char **argv, struct report_options *out_options);
/* Prints a line on standard error, after the name of the command. */
void report_complain(const struct report_options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
