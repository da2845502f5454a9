/* SPDX-License-Identifier: MIT */
/*
 * call_costs.h - a profile by places in the code: what each line of each function allocated itself, and what each of its calls led to. What callgrind's
 * format wants.
 *
 * As everywhere a function is a name, inlined ones are functions like others, and a pair of caller and callee counts once per stack, at the outermost of its
 * calls.
 */
#ifndef HI_CALL_COSTS_H
#define HI_CALL_COSTS_H

#include "estimate.h"
#include "functions.h"

#define CALL_COSTS_SELF UINT32_MAX

struct call_place {
	uint32_t function; /* functions.count: of stacks of which nothing is known */
	uint32_t callee;   /* CALL_COSTS_SELF: what the line allocated itself */
	uint32_t file;     /* index into file[] */
	uint32_t line;     /* 0 = unknown */
};
struct call_cost {
	struct call_place place;
	double value[SAMPLE_TYPE_COUNT];
};
struct call_costs {
	struct functions functions;
	const char **file; /* [0] is NULL, unknown */
	size_t file_count;
	struct call_cost *cost; /* by function; of one, by file, then line, then callee */
	size_t count;
	uint32_t *file_of; /* by call: index into file[] */
};

/* 0 or -ENOMEM. The profile must outlive it. */
int call_costs_open(const struct profile *profile, struct call_costs *out_costs);
void call_costs_close(struct call_costs *costs);

#endif
