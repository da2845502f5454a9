/* SPDX-License-Identifier: MIT */
/*
 * sprouts.h - the bare tree of all stacks: a few words for each node, of those that are heavy enough to be shown at all.
 *
 * A million stacks make a tree of some twenty million nodes, most of which are the way of one stack alone. They are counted, but not kept. A parent is never
 * lighter than its child, and always has the lower index.
 */
#ifndef HI_SPROUTS_H
#define HI_SPROUTS_H

#include "estimate.h"
#include "functions.h"

#define SPROUT_ROOT UINT32_MAX       /* its function */
#define SPROUT_REST (UINT32_MAX - 1) /* all that is too light below its parent; without weight */

struct sprout {
	uint32_t function, parent;
	uint32_t image;                  /* for who asked for them */
	float weight[SAMPLE_TYPE_COUNT]; /* with all below, of both sides of a comparison */
};
struct sprouts {
	struct sprout *sprout; /* [0] is the root */
	size_t count;
	size_t node_count; /* of the whole tree */
	uint32_t *leaf;    /* by stack: where it ends, or what that is a part of */
};
struct sprouts_options {
	size_t enough;              /* as many nodes are kept, those with the largest share of the whole; and some more */
	const enum sample_type *by; /* of this type; NULL = of the one in which it is largest */
};

/* 0 or -ENOMEM. The functions are opened with them, and stay open. */
int sprouts_open(const struct profile *profile, const struct sprouts_options *options, struct functions *out_functions, struct sprouts *out_sprouts);
void sprouts_close(struct sprouts *sprouts);
/* The part of the whole that it is. */
double sprout_share(const struct sprout *root, const struct sprout *sprout, const enum sample_type *by);

#endif
