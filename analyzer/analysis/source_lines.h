/* SPDX-License-Identifier: MIT */
/*
 * source_lines.h - what some functions weigh, line by line of their source.
 *
 * A line counts once per stack in its cumulative weight, however often it recurs. An inlined function's lines are lines of its own file.
 */
#ifndef HI_SOURCE_LINES_H
#define HI_SOURCE_LINES_H

#include "estimate.h"
#include "functions.h"

struct source_line {
	uint32_t function;
	const char *file; /* NULL = unknown; lives as long as the profile */
	uint32_t line;    /* 0 = unknown */
	int32_t module;   /* one that was compiled from it, -1 = unknown */
	struct estimate flat, cum;
};
struct source_lines {
	struct source_line *line; /* by function, file and line; only those on stacks that count */
	size_t count;
};

/* wanted: by function. 0 or -ENOMEM. */
int source_lines_sum(const struct profile *profile, const struct functions *functions, enum sample_type type, const bool *wanted,
		     struct source_lines *out_lines);
void source_lines_close(struct source_lines *lines);

#endif
