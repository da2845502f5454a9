/* SPDX-License-Identifier: MIT */
/* html_nodes.c - see html_nodes.h. */
#include "html_nodes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- the way of each stack ------------------------------------------------------------------- */

/* One stack on its way from the root. kept: calls from depth `first` to `end` are not folded. */
struct way {
	struct html_nodes *nodes;
	double weight;
	uint32_t depth, first, end;
};

static void take_step(void *context, uint32_t node, const struct function_call *call)
{
	struct way *way = context;
	struct html_nodes *nodes = way->nodes;

	way->depth++;
	if (way->depth > way->first && way->depth <= way->end)
		nodes->is_kept[node] = true;
	if (call->line && way->weight > nodes->weight[node]) {
		nodes->weight[node] = way->weight;
		nodes->line[node] = call->line;
	}
}

/*
 * The depths of the calls that are not folded. Both lists are parts of the whole stack, leaf first,
 * and they may differ at both ends.
 */
static void find_kept(const struct html_nodes *nodes, const struct user_frames *frames,
		      uint32_t stack, struct way *way)
{
	size_t count, kept;
	const uint32_t *call =
		functions_unfold(&nodes->functions, &nodes->profile->stack[stack], &count);
	const uint32_t *user = user_frames_unfold(frames, stack, &kept);
	size_t outer = 0;

	while (kept && outer < count && call[count - 1 - outer] != user[kept - 1])
		outer++;
	way->first = (uint32_t)outer;
	way->end = (uint32_t)(outer + (kept ? kept : count));
}

static double weight_of(const struct profile *profile, const struct profile_row *row)
{
	return fabs(estimate_of(profile, row, INUSE_SPACE).value) +
	       1e-3 * fabs(estimate_of(profile, row, ALLOC_SPACE).value);
}

static int follow_stacks(struct html_nodes *nodes, const struct user_frames *frames)
{
	const struct profile *profile = nodes->profile;
	double *weight = calloc(profile->stack_count + 1, sizeof(*weight));

	if (!weight)
		return -ENOMEM;
	for (size_t i = 0; i < profile->row_count; i++)
		weight[profile->row[i].key.stack] += weight_of(profile, &profile->row[i]);
	for (uint32_t i = 0; i < profile->stack_count; i++) {
		struct way way = {.nodes = nodes, .weight = weight[i], .end = UINT32_MAX};

		if (frames)
			find_kept(nodes, frames, i, &way);
		nodes->leaf[i] =
			calltree_paths_leaf(&nodes->paths, &profile->stack[i], take_step, &way);
	}
	free(weight);
	return 0;
}

static int allocate(struct html_nodes *nodes)
{
	const size_t count = nodes->tree->count + 1;

	nodes->leaf = calloc(nodes->profile->stack_count + 1, sizeof(*nodes->leaf));
	nodes->line = calloc(count, sizeof(*nodes->line));
	nodes->weight = calloc(count, sizeof(*nodes->weight));
	nodes->is_kept = calloc(count, sizeof(*nodes->is_kept));
	return nodes->leaf && nodes->line && nodes->weight && nodes->is_kept ? 0 : -ENOMEM;
}

int html_nodes_open(const struct profile *profile, const struct calltree *tree,
		    const struct user_frames_options *user_frames, struct html_nodes *out_nodes)
{
	char complaint[PATTERN_COMPLAINT_MAX];
	struct user_frames frames;
	/* What is folded is known of functions only, not of files or addresses. */
	const bool folds = profile->meta.granularity == PROFILE_FUNCTIONS;
	int err;

	*out_nodes = (struct html_nodes){.profile = profile, .tree = tree};
	err = calltree_paths_open(tree, &out_nodes->paths);
	if (!err)
		err = functions_open(profile, &out_nodes->functions);
	if (!err)
		err = calltree_paths_use(&out_nodes->paths, &out_nodes->functions);
	if (!err)
		err = allocate(out_nodes);
	if (!err && folds)
		err = user_frames_open(profile, user_frames, &frames, complaint);
	if (err)
		return err;
	err = follow_stacks(out_nodes, folds ? &frames : NULL);
	if (folds)
		user_frames_close(&frames);
	return err;
}

void html_nodes_close(struct html_nodes *nodes)
{
	calltree_paths_close(&nodes->paths);
	functions_close(&nodes->functions);
	free(nodes->leaf);
	free(nodes->line);
	free(nodes->weight);
	free(nodes->is_kept);
	*nodes = (struct html_nodes){0};
}
