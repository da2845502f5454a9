/* SPDX-License-Identifier: MIT */
/*
 * pattern.h - regular expressions that users give: POSIX extended ones, found anywhere in a text.
 *
 * Common expressions for pprof, whose dialect is RE2, mean the same here: (?i) at the beginning,
 * (?:...), \d and \D are understood as well. Zero-initialized = none is set, which matches nothing.
 */
#ifndef HI_PATTERN_H
#define HI_PATTERN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#define PATTERN_COMPLAINT_MAX 256u

struct pattern {
	regex_t regex;
	bool is_set;
};

/* text: NULL = none. 0, -ENOMEM, or -EINVAL with the reason in complaint. */
int pattern_open(struct pattern *pattern, const char *text, char complaint[PATTERN_COMPLAINT_MAX]);
/*
 * The same for an expression that comes from a file, which may be hostile: -EINVAL, too, for one
 * that is too long or too deep, repeats by numbers, or refers back.
 */
#define PATTERN_FOREIGN_MAX 8192u /* bytes */
#define PATTERN_FOREIGN_DEPTH_MAX 50u
int pattern_open_foreign(struct pattern *pattern, const char *text,
			 char complaint[PATTERN_COMPLAINT_MAX]);
void pattern_close(struct pattern *pattern);
/* text: NULL is an empty one. */
bool pattern_matches(const struct pattern *pattern, const char *text);
/* The same for the name of a function without its parameters. */
bool pattern_matches_function(const struct pattern *pattern, const char *name);

#endif
