/* SPDX-License-Identifier: MIT */
/*
 * leaks.h - what was allocated in the window and is still there, the youngest part excluded, by stack; and which of it grows (trend.h).
 *
 * Stacks that read the same count as one (stack_text.h). The base of a comparison does not count.
 */
#ifndef HI_LEAKS_H
#define HI_LEAKS_H

#include "estimate.h"
#include "stack_text.h"
#include "trend.h"

/* Which part of the window counts as young: so many ns or, if that is 0, this share of it. */
struct leaks_tail {
	uint64_t ns;
	double share;
};
#define LEAKS_TAIL_SHARE 0.1

struct leak {
	uint32_t stack;                 /* the first of those that read the same */
	struct estimate bytes, objects; /* there, and older than the tail */
	struct trend trend;
	double age_ns; /* mean of what lives */
};
struct leaks {
	struct leak *leak; /* what grows first, by slope; then the rest, likewise; by what is there, where slopes are not known */
	size_t count, growing_count;
	struct estimate bytes, objects;                 /* all of it */
	struct estimate growing_bytes, growing_objects; /* of what grows */
	double window_ns, tail_ns;
	struct trend_slices slices; /* empty ones */
	size_t unknown_rows;        /* with samples that live, and of which nobody knows since when */
	size_t known_rows;
	bool is_unsure; /* caveats withhold verdicts and slopes */
};

/* 0, -ENOMEM, or -ERANGE: the tail is as long as the window. Close it in either case. */
int leaks_open(const struct stack_text *text, const struct leaks_tail *tail, struct leaks *out_leaks);
void leaks_close(struct leaks *leaks);

#endif
