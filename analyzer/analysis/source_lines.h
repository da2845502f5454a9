/* SPDX-License-Identifier: MIT */
/*
 * source_lines.h - the weights of some functions, line by line of their source.
 *
 * A line counts once per stack in its cumulative weight, however often it recurs. The lines of an
 * inlined function belong to the file of that function.
 */
#ifndef HI_SOURCE_LINES_H
#define HI_SOURCE_LINES_H

#include "estimate.h"
#include "functions.h"

struct source_line {
	uint32_t function;
	const char *file; /* NULL = unknown; lives as long as the profile */
	uint32_t line;    /* 0 = unknown */
	int32_t module;   /* a module that was compiled from it, -1 = unknown */
	struct estimate flat, cum;
};
struct source_lines {
	/* sorted by function, file and line; only lines on stacks that count */
	struct source_line *line;
	size_t count;
};

/* wanted: by function. Returns 0 or -ENOMEM. */
int source_lines_sum(const struct profile *profile, const struct functions *functions,
		     enum sample_type type, const bool *wanted, struct source_lines *out_lines);
void source_lines_close(struct source_lines *lines);

#endif
