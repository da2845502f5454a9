/* SPDX-License-Identifier: MIT */
/* Room options/: the command line of report and its help. Uses views/ and below. */

/*
 * report_options.h - what the options of `heapinject report` and `heapinject diff` ask for. Their
 * help is in report_help.c; report_command_line.h parses a whole command line.
 */
#ifndef HI_REPORT_OPTIONS_H
#define HI_REPORT_OPTIONS_H

#include "filter.h"
#include "hi_options.h"
#include "remote_profile.h"
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
	bool has_type; /* what is counted was named; otherwise the file may say it */
	enum style_when color;
	uint64_t fail_above; /* bytes; 0 = no limit */
	bool adds_up;        /* snapshots of one session are added up, too */
	bool as_is;          /* windows of different length are compared as they are */
	bool normalize;      /* the other side is scaled to the base's totals */
	bool pools;          /* blocks of pools are shown, not those that malloc gave */
	bool mmap;           /* mappings are shown, not blocks */
	bool mean;           /* what is shown is divided by the objects allocated */
	bool scale_base;     /* the base is scaled to the window of the other side */
	struct symbols_options symbols;
	struct remote_options fetch; /* of URLs */
	bool help;
};

/*
 * Sets what the option of this code (report_option_table.h) is for. 0, or -EINVAL after it has
 * printed what is wrong. Keeps a pointer to the value.
 */
int report_options_set(struct report_options *options, int code, const struct hi_options *given);
/* One more file that is compared with. 0 or -EINVAL, likewise. */
int report_options_add_base(struct report_options *options, const char *file,
			    enum percent_base_of percent_base);
/* --growth --html, in any order: two views that are one. */
bool report_options_is_growth_page(const struct renderer *one, const struct renderer *other);
/* Prints a line on standard error, after the name of the command. */
void report_complain(const struct report_options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
