/* SPDX-License-Identifier: MIT */
/*
 * report_option_table.h - which options `heapinject report` and `heapinject diff` have: the fixed
 * ones, one for each sample type, and one for each view (render.h). What they do is in
 * report_options.c, their description in report_help.c.
 */
#ifndef HI_REPORT_OPTION_TABLE_H
#define HI_REPORT_OPTION_TABLE_H

#include <getopt.h>

#include "filter.h"
#include "render.h"

/* The code of an option; it is the letter for those that have one. */
enum option_code {
	OPTION_SORT = 256,
	OPTION_INTERVALS,
	OPTION_DETAILS,
	OPTION_BASE,
	OPTION_TAIL,
	OPTION_FAIL_ABOVE,
	OPTION_DIFF_BASE,
	OPTION_SUM,
	OPTION_AS_IS,
	OPTION_SCALE_BASE,
	OPTION_COLOR,
	OPTION_TRIM_PATH,
	OPTION_SOURCE_PATH,
	OPTION_NO_INLINES,
	OPTION_RELATIVE_PERCENTAGES,
	OPTION_NODE_FRACTION,
	OPTION_EDGE_FRACTION,
	OPTION_TRIM,
	OPTION_NO_TRIM,
	OPTION_CUM,
	OPTION_FLAT,
	OPTION_SAMPLE_INDEX,
	OPTION_GRANULARITY_NAME,
	OPTION_UNIT,
	OPTION_DIVIDE_BY,
	OPTION_DROP_NEGATIVE,
	OPTION_TAGSHOW,
	OPTION_TAGHIDE,
	OPTION_TAGROOT,
	OPTION_TAGLEAF,
	OPTION_CALL_TREE,
	OPTION_NORMALIZE,
	OPTION_MEAN,
	OPTION_MMAP,
	OPTION_POOLS,
	OPTION_SHOW_BYTES,
	OPTION_WRAPPER,
	OPTION_NO_WRAPPER,
	OPTION_RAW,
	OPTION_TIMEOUT,
	OPTION_SYSROOT,
	OPTION_SECONDS,
	OPTION_FILTER,
	OPTION_GRANULARITY = OPTION_FILTER + FILTER_KINDS,
	OPTION_TYPE = OPTION_GRANULARITY + PROFILE_MODULES,
	OPTION_RENDERER = OPTION_TYPE + SAMPLE_TYPE_COUNT
};

/*
 * Returns the long options; the last one has no name. *out_letters: the short options in the format
 * of getopt_long(). They are read by hi_options.h.
 */
const struct option *report_option_table_get(const char **out_letters);
/* The name of the option that selects this type. */
const char *report_option_table_type(enum sample_type type);
/*
 * The type of this name, or of this number, which is its place in a profile of pprof. False if
 * there is none.
 */
bool report_option_table_type_of(const char *text, enum sample_type *out_type);
/* What there is here instead of an option that only pprof has; NULL = nothing. */
const char *report_option_table_instead(const char *name, size_t size);

#endif
