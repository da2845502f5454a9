/* SPDX-License-Identifier: MIT */
/*
 * Room analysis/: what a profile says, in sums and verdicts that views only have to print. Start at
 * callgraph.h, sums by function; calltree.h and stack_sums.h keep the stacks, leaks.h and growth.h
 * say what grows. Uses symbols/, model/, text/, and libcapstone.
 */

/*
 * callgraph.h - a profile summed up by function: flat and cumulative weight per name, and weight
 * per caller-callee pair.
 *
 * The text and picture views share it. A function counts once per stack in its cumulative weight,
 * however often it recurs. The same holds for a pair.
 *
 * A function that is not kept is skipped: a residual edge leads from its caller to its callee. Its
 * flat weight is added to no node.
 */
#ifndef HI_CALLGRAPH_H
#define HI_CALLGRAPH_H

#include "estimate.h"
#include "functions.h"
#include "user_frames.h"

enum callgraph_sort {
	CALLGRAPH_BY_FLAT, /* as pprof: then by name */
	CALLGRAPH_BY_CUM,
	CALLGRAPH_BY_FLAT_AND_CUM /* then by cumulative weight, then by name */
};
enum callgraph_inlining { INLINE_NEVER, INLINE_SOMETIMES, INLINE_ALWAYS };

struct callgraph_node {
	/* function, or module+0xoffset; lives as long as the graph */
	const char *name;
	const char *file;                 /* of the function's most expensive call; may be NULL */
	uint32_t line;                    /* 0 = unknown */
	enum callgraph_inlining inlining; /* into its callers */
	struct estimate flat, cum;        /* both zero: not kept, or on no stack that counts */
	double flat_divisor, cum_divisor; /* what means are divided by; 0 = none are shown */
};
struct callgraph_edge {
	uint32_t caller, callee; /* node indices; never the same */
	struct estimate weight;
	double divisor; /* likewise */
	/* the callee is always inlined, even if the function that it is inlined into is not kept */
	bool is_inline;
	bool is_residual; /* always with skipped functions in between */
};
struct callgraph {
	struct callgraph_node *node; /* numbered as in functions.h */
	size_t node_count;
	struct callgraph_edge *edge;
	size_t edge_count;
	struct estimate total;                /* estimate_total() */
	double divisor;                       /* of all rows, kept or not */
	double percent_base;                  /* the weight that is 100 %, or the mean */
	enum profile_granularity granularity; /* what the nodes are, as in the profile */
	/* as in the profile: the number of samples whose usable size is known */
	uint64_t slack_samples;
	struct functions functions;
};
/* keep: by node; NULL = keep all. Returns 0 or -ENOMEM. */
int callgraph_build(const struct profile *profile, enum sample_type type, const bool *keep,
		    struct callgraph *out_graph);
/*
 * As callgraph_build(), for an existing graph of the same profile. fold: stacks have only the calls
 * that are worth a look, so that an allocator's flat weight goes to who called it; NULL = all
 * calls. On failure the graph is closed.
 */
int callgraph_rebuild(const struct profile *profile, enum sample_type type,
		      const struct user_frames *fold, const bool *keep, struct callgraph *graph);
void callgraph_close(struct callgraph *graph);
/*
 * True if the node has a weight that rounds to a whole byte or object. In a comparison many weights
 * cancel out to zero.
 */
bool callgraph_has(const struct callgraph_node *node);
/* What a view shows: the weight, or the mean. What is light, and the order, go by the weight. */
double callgraph_flat(const struct callgraph_node *node);
double callgraph_cum(const struct callgraph_node *node);
double callgraph_weight(const struct callgraph_edge *edge);
/* What is 100 % in the profile, whose rows have this sum and divisor. */
double callgraph_percent_base(const struct profile *profile, enum sample_type type, double sum,
			      double divisor);
/*
 * Sets each node's `inlining` from the edges of the graph. The caller must call it again after it
 * has removed edges. Returns 0 or -ENOMEM.
 */
int callgraph_note_inlining(struct callgraph *graph);
/*
 * Returns the nodes that have a weight, sorted by the magnitude of the flat or the cumulative
 * weight, heaviest first. Nodes of equal weight are sorted by name. The caller frees the array.
 * NULL = out of memory.
 */
uint32_t *callgraph_order(const struct callgraph *graph, enum callgraph_sort sort,
			  size_t *out_count);
/*
 * The calls of a stack of the profile, leaf first: those that are worth a look, or all if fold is
 * NULL. Valid until the next call.
 */
const uint32_t *callgraph_unfold(const struct profile *profile, const struct functions *functions,
				 const struct user_frames *fold, uint32_t stack, size_t *out_count);

#endif
