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
	/* functions.count = stacks of which nothing is known; or a way, as node[] has it */
	uint32_t function;
	uint32_t callee; /* likewise; CALL_COSTS_SELF = allocated by the line itself */
	uint32_t file;   /* index into file[] */
	uint32_t line;   /* 0 = unknown */
};
struct call_cost {
	struct call_place place;
	double value[SAMPLE_TYPE_COUNT];
};
/* A function called in one way from the root. */
struct call_node {
	uint32_t function;
	uint32_t number; /* among the ways to this function, from 0 */
};
struct call_costs {
	struct functions functions;
	const char **file; /* [0] is NULL, unknown */
	size_t file_count;
	/* sorted by function, then file, then line, then callee */
	struct call_cost *cost;
	size_t count;
	/* NULL = places are of functions; else they are of ways: indices in node[] */
	struct call_node *node;
	size_t node_count;
	uint32_t *node_ways; /* by function: how many ways lead to it */
	uint32_t *file_of;   /* by call: index into file[] */
};

/*
 * Returns 0 or -ENOMEM. The profile must outlive the result. by_way: each way from the root to a
 * function has costs of its own, as in a call tree; each call of a stack counts then.
 */
int call_costs_open(const struct profile *profile, bool by_way, struct call_costs *out_costs);
void call_costs_close(struct call_costs *costs);

#endif
