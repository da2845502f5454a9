/* SPDX-License-Identifier: MIT */
/* html_nodes.c - see html_nodes.h. */
#include "html_nodes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- the way of each stack ------------------------------------------------------------------- */

/* A stack's calls, leaf first, and which of them are not folded: from depth `first` to `end`. */
struct way {
	const uint32_t *call;
	size_t count;
	size_t first, end;
	double weight; /* of the stack */
};

/*
 * The depths of the calls that are not folded. Both lists are parts of the whole stack, and they
 * may differ at both ends.
 */
static void find_kept(const struct user_frames *frames, uint32_t stack, struct way *way)
{
	size_t kept;
	const uint32_t *user = user_frames_unfold(frames, stack, &kept);

	way->first = 0;
	while (kept && way->first < way->count &&
	       way->call[way->count - 1 - way->first] != user[kept - 1])
		way->first++;
	way->end = way->first + (kept ? kept : way->count);
}

/* What is noted of a node while stacks are followed; small, so that all nodes fit into a cache. */
struct note {
	double heaviest; /* of its stacks with a line so far */
	uint32_t parent, depth, line;
	bool is_kept;
};

/* Notes what the way says of the nodes from this one to the root. */
static void note_way(const struct functions *functions, const struct way *way, uint32_t node,
		     struct note *note)
{
	for (; node; node = note[node].parent) {
		struct note *at = &note[node];
		const struct function_call *call =
			&functions->call[way->call[way->count - at->depth]];

		at->is_kept |= at->depth > way->first && at->depth <= way->end;
		if (call->line && way->weight > at->heaviest) {
			at->heaviest = way->weight;
			at->line = call->line;
		}
	}
}

/* Where a stack ends, of its own functions: "(other)" is none. */
static uint32_t last_function(const struct calltree *tree, uint32_t leaf)
{
	return tree->node[leaf].function == CALLTREE_OTHER ? tree->node[leaf].parent : leaf;
}

static double weight_of(const struct profile *profile, const struct profile_row *row)
{
	struct estimate estimate[SAMPLE_TYPE_COUNT];

	estimates_of(profile, row, estimate);
	return fabs(estimate[INUSE_SPACE].value) + 1e-3 * fabs(estimate[ALLOC_SPACE].value);
}

static uint32_t leaf_of(const struct html_nodes *nodes, uint32_t stack)
{
	const uint32_t leaf = calltree_leaf(nodes->tree, stack);

	/* What holds nothing may go through the tree anyway. */
	return leaf ? leaf : calltree_paths_leaf(&nodes->paths, &nodes->profile->stack[stack]);
}

static void follow_stack(struct html_nodes *nodes, const struct user_frames *frames, uint32_t stack,
			 double weight, struct note *note)
{
	const struct functions *functions = &nodes->tree->functions;
	struct way way = {.weight = weight, .end = SIZE_MAX};

	nodes->leaf[stack] = leaf_of(nodes, stack);
	way.call = functions_unfold(functions, &nodes->profile->stack[stack], &way.count);
	if (frames)
		find_kept(frames, stack, &way);
	note_way(functions, &way, last_function(nodes->tree, nodes->leaf[stack]), note);
}

static int follow_stacks(struct html_nodes *nodes, const struct user_frames *frames)
{
	const struct profile *profile = nodes->profile;
	const struct calltree *tree = nodes->tree;
	double *weight = calloc(profile->stack_count + 1, sizeof(*weight));
	struct note *note = calloc(tree->count + 1, sizeof(*note));
	const bool is_complete = weight && note;

	for (size_t i = 0; i < tree->count && is_complete; i++)
		note[i] =
			(struct note){.parent = tree->node[i].parent, .depth = tree->node[i].depth};
	for (size_t i = 0; i < profile->row_count && is_complete; i++)
		weight[profile->row[i].key.stack] += weight_of(profile, &profile->row[i]);
	for (uint32_t i = 0; i < profile->stack_count && is_complete; i++)
		follow_stack(nodes, frames, i, weight[i], note);
	for (size_t i = 0; i < tree->count && is_complete; i++) {
		nodes->line[i] = note[i].line;
		nodes->is_kept[i] = note[i].is_kept;
	}
	free(weight);
	free(note);
	return is_complete ? 0 : -ENOMEM;
}

static int allocate(struct html_nodes *nodes)
{
	const size_t count = nodes->tree->count + 1;

	nodes->leaf = calloc(nodes->profile->stack_count + 1, sizeof(*nodes->leaf));
	nodes->line = calloc(count, sizeof(*nodes->line));
	nodes->is_kept = calloc(count, sizeof(*nodes->is_kept));
	return nodes->leaf && nodes->line && nodes->is_kept ? 0 : -ENOMEM;
}

/* ---- in a smaller tree ----------------------------------------------------------------------- */

/* A node as it was before the tree was cut, and where it is now. */
struct earlier_node {
	uint32_t function, parent;
	uint32_t image;
	bool is_gone; /* it is part of its image, an "(other)" node, and so is all below it */
};

static struct earlier_node *note_nodes(const struct calltree *tree)
{
	struct earlier_node *node = calloc(tree->count, sizeof(*node));

	for (size_t i = 0; node && i < tree->count; i++)
		node[i] = (struct earlier_node){.function = tree->node[i].function,
						.parent = tree->node[i].parent};
	return node;
}

/* A parent is before its children, so its image is known. The root is its own. */
static void find_images(const struct calltree_paths *paths, struct earlier_node *node, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		const struct earlier_node *parent = &node[node[i].parent];
		const uint32_t child = parent->is_gone ? 0
						       : calltree_paths_child(paths, parent->image,
									      node[i].function);

		node[i].is_gone = !child;
		node[i].image = child             ? child
				: parent->is_gone ? parent->image
						  : calltree_paths_other(paths, parent->image);
	}
}

/* Brings all that is known of the nodes to where they are now. */
static int move_to_images(struct html_nodes *nodes, const struct earlier_node *node, size_t count)
{
	uint32_t *line = calloc(nodes->tree->count + 1, sizeof(*line));
	bool *is_kept = calloc(nodes->tree->count + 1, sizeof(*is_kept));
	const bool is_complete = line && is_kept;

	for (size_t i = 0; i < count && is_complete; i++) {
		if (node[i].is_gone)
			continue;
		line[node[i].image] = nodes->line[i];
		is_kept[node[i].image] = nodes->is_kept[i];
	}
	for (size_t i = 0; i < nodes->profile->stack_count && is_complete; i++)
		nodes->leaf[i] = node[nodes->leaf[i]].image;
	free(nodes->line);
	free(nodes->is_kept);
	nodes->line = line;
	nodes->is_kept = is_kept;
	return is_complete ? 0 : -ENOMEM;
}

int html_nodes_cut(struct html_nodes *nodes, struct calltree *tree, size_t limit)
{
	const size_t count = tree->count;
	struct earlier_node *node = note_nodes(tree);
	int err = node ? calltree_cut(tree, limit) : -ENOMEM;

	calltree_paths_close(&nodes->paths);
	if (!err)
		err = calltree_paths_open(tree, &nodes->paths);
	if (!err)
		err = calltree_paths_use(&nodes->paths, &tree->functions);
	if (!err) {
		find_images(&nodes->paths, node, count);
		err = move_to_images(nodes, node, count);
	}
	free(node);
	return err;
}

/* ---- the whole ------------------------------------------------------------------------------- */

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
		err = calltree_paths_use(&out_nodes->paths, &tree->functions);
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
	free(nodes->leaf);
	free(nodes->line);
	free(nodes->is_kept);
	*nodes = (struct html_nodes){0};
}
