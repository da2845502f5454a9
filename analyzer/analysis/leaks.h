/* SPDX-License-Identifier: MIT */
/*
 * leaks.h - blocks that were allocated in the window and are still in use, by stack, without the
 * youngest ones; and which stacks grow (trend.h).
 *
 * Stacks that read the same count as one (stack_text.h). In a comparison the base side does not
 * count.
 */
#ifndef HI_LEAKS_H
#define HI_LEAKS_H

#include "answer.h"
#include "estimate.h"
#include "row_trend.h"
#include "stack_text.h"

/*
 * How long the young end of the window (the tail) is: `ns` nanoseconds, or if that is 0 the
 * fraction `share` of the window.
 */
struct leaks_tail {
	uint64_t ns;
	double share;
};
#define LEAKS_TAIL_SHARE 0.1

struct leak {
	uint32_t stack;                 /* the first of the stacks that read the same */
	struct estimate bytes, objects; /* in use, and older than the tail */
	struct trend trend;
	double age_ns;           /* mean age of the blocks in use */
	double bar[ANSWER_BARS]; /* as in struct answer_row */
};
struct leaks {
	/*
	 * Growing stacks first, sorted by slope; then the others, sorted likewise. Where slopes are
	 * unknown the bytes in use decide.
	 */
	struct leak *leak;
	size_t count, growing_count;
	struct estimate bytes, objects;                 /* of all stacks */
	struct estimate growing_bytes, growing_objects; /* of the growing stacks */
	size_t undecided_count; /* stacks of which it cannot be told yet whether they grow */
	struct estimate undecided_bytes;
	double window_ns, tail_ns;
	struct row_trend begin; /* the sum of no rows */
	size_t unknown_rows;    /* rows that have samples in use of unknown age */
	size_t known_rows;
	struct answer answer; /* of the same tail; it decides which stacks replace older blocks */
	bool is_unsure;       /* the profile's caveats withhold verdicts and slopes */
};

/*
 * Returns 0, -ENOMEM, or -ERANGE if the tail is as long as the window. The caller closes *out_leaks
 * in every case.
 */
int leaks_open(const struct stack_text *text, const struct leaks_tail *tail,
	       struct leaks *out_leaks);
void leaks_close(struct leaks *leaks);

#endif
