/* SPDX-License-Identifier: MIT */
/*
 * call_costs.h - a profile by place in the code: the cost of each line of each function, and of
 * each of its calls.
 *
 * The callgrind format needs this. A place's own cost is what the line itself allocated; a call's
 * cost is what the callee and everything below it allocated.
 *
 * As in all views, a function is a name and an inlined function counts as a function. A pair of
 * caller and callee counts once per stack, at the outermost of its calls.
 */
#ifndef HI_CALL_COSTS_H
#define HI_CALL_COSTS_H

#include "estimate.h"
#include "functions.h"

#define CALL_COSTS_SELF UINT32_MAX

struct call_place {
	/* functions.count = stacks of which nothing is known */
	uint32_t function;
	uint32_t callee; /* CALL_COSTS_SELF = allocated by the line itself */
	uint32_t file;   /* index into file[] */
	uint32_t line;   /* 0 = unknown */
};
struct call_cost {
	struct call_place place;
	double value[SAMPLE_TYPE_COUNT];
};
struct call_costs {
	struct functions functions;
	const char **file; /* [0] is NULL, unknown */
	size_t file_count;
	/* sorted by function, then file, then line, then callee */
	struct call_cost *cost;
	size_t count;
	uint32_t *file_of; /* by call: index into file[] */
};

/* Returns 0 or -ENOMEM. The profile must outlive the result. */
int call_costs_open(const struct profile *profile, struct call_costs *out_costs);
void call_costs_close(struct call_costs *costs);

#endif
