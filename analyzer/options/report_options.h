/* SPDX-License-Identifier: MIT */
/*
 * The room options/: what the command line of report says, and what its help says of it. Uses views/ and below.
 */

/* report_options.h - the command lines of `heapinject report` and `heapinject diff`. What their help says: report_help.c. */
#ifndef HI_REPORT_OPTIONS_H
#define HI_REPORT_OPTIONS_H

#include <getopt.h>

#include "filter.h"
#include "render.h"
#include "style.h"
#include "symbols.h"

#define REPORT_FILES_MAX 4096u

struct report_options {
	const char *command; /* "report" or "diff" */
	int argc;            /* as given, but for its order: options first */
	char **argv;
	char **file; /* "-" = standard input; they add up */
	size_t file_count;
	const char *base[REPORT_FILES_MAX]; /* what they are compared with; those add up, too */
	size_t base_count;
	struct filter_options filter;
	const char *output; /* NULL = standard output */
	const struct renderer *renderer;
	bool has_view; /* one was named; else renderer is the one by default */
	struct render_options render;
	enum style_when color;
	uint64_t fail_above; /* bytes; 0 = no limit */
	struct symbols_options symbols;
	bool help;
};

/* Parses the arguments behind argv[0], which is the command. Says what is wrong with them; then negative errno. Keeps pointers into argv. */
int report_options_parse(int argc, char **argv, struct report_options *out_options);
/* Which options there are, up to one without a name, and the short ones as getopt_long() wants them. */
const struct option *report_options_known(const char **out_letters);
/* The name of the option that chooses this type. */
const char *report_options_type(enum sample_type type);
/* A line for standard error, behind the name of the command. */
void report_complain(const struct report_options *options, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
