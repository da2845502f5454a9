/* SPDX-License-Identifier: MIT */
/*
 * pruned_tree.c - see pruned_tree.h.
 *
 * The sorted stacks are traversed twice. In memory are only the nodes on the path from the root to
 * the current node. The first pass counts how many nodes have which share. The second pass keeps
 * the nodes whose share is large enough for the wanted number of nodes. Start at
 * pruned_tree_open().
 */
#include "pruned_tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stack_sums.h"

/* Shares are counted in bins by the upper bits of the float: 64 bins from a share to its double. */
#define BIN_SHIFT 17
#define BINS ((0x3f800000u >> BIN_SHIFT) + 1)
/* in leaf[]: the stack ends not at this pruned node but at its PRUNED_REST child */
#define REST_FLAG 0x80000000u

/* A node on the path from the root to the current node. */
struct level {
	uint32_t function;
	double weight[SAMPLE_TYPE_COUNT];
	/* In the second pass: */
	uint32_t pruned_node;
	size_t first_stack; /* the first one through it, in sorted order */
};

struct grower {
	const enum sample_type *by;
	struct stack_sums sums;
	double (*weight)[SAMPLE_TYPE_COUNT]; /* by sum */
	struct level *level;                 /* [0] is the root */
	size_t depth;
	double whole[SAMPLE_TYPE_COUNT];
	size_t *bin; /* by bin: how many nodes have a share in it */
	size_t node_count;
	/*
	 * Kept are all nodes in the bins above `least`, and up to `room` more nodes of bin `least`.
	 */
	size_t least, room;
	struct pruned_node *pruned_node;
	size_t pruned_count, pruned_room;
	uint32_t *leaf; /* by sum */
};

static double share_of(const double *weight, const double *whole, const enum sample_type *by)
{
	double share = 0;

	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++) {
		if (whole[type] > 0 && (!by || type == (int)*by))
			share = fmax(share, weight[type] / whole[type]);
	}
	return share;
}

double pruned_node_share(const struct pruned_node *root, const struct pruned_node *pruned_node,
			 const enum sample_type *by)
{
	double weight[SAMPLE_TYPE_COUNT], whole[SAMPLE_TYPE_COUNT];

	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++) {
		weight[type] = (double)pruned_node->weight[type];
		whole[type] = (double)root->weight[type];
	}
	return share_of(weight, whole, by);
}

static size_t bin_of(const struct grower *grower, const struct level *level)
{
	const float share = (float)share_of(level->weight, grower->whole, grower->by);
	uint32_t bits;

	memcpy(&bits, &share, sizeof(bits));
	return bits >> BIN_SHIFT < BINS ? bits >> BIN_SHIFT : BINS - 1;
}

static int weigh(struct grower *grower, const struct profile *profile)
{
	grower->weight = calloc(grower->sums.count + 1, sizeof(*grower->weight));
	if (!grower->weight)
		return -ENOMEM;
	for (size_t i = 0; i < profile->row_count; i++) {
		struct estimate estimate[SAMPLE_TYPE_COUNT];

		estimates_of(profile, &profile->row[i], estimate);
		for (int type = 0; type < SAMPLE_TYPE_COUNT; type++) {
			const double weight = fabs(estimate[type].value);

			grower->weight[grower->sums.group_of[profile->row[i].key.stack]][type] +=
				weight;
			grower->whole[type] += weight;
		}
	}
	return 0;
}

/* ---- going through the tree ------------------------------------------------------------------ */

/*
 * What a pass does with a node. add: on entering the node. end: after all nodes below it; `stack`
 * is then the first stack that does not go through it.
 */
struct pass {
	int (*add)(struct grower *grower, struct level *level, size_t stack);
	void (*end)(struct grower *grower, struct level *level, size_t stack);
};

static void leave(struct grower *grower, const struct pass *pass, size_t stack)
{
	struct level *level = &grower->level[grower->depth--];

	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
		level[-1].weight[type] += level->weight[type];
	pass->end(grower, level, stack);
}

static int enter(struct grower *grower, const struct pass *pass, uint32_t function, size_t stack)
{
	struct level *level = &grower->level[++grower->depth];

	*level = (struct level){.function = function, .first_stack = stack};
	return pass->add(grower, level, stack);
}

/* Moves from the current stack to this one: leaves and enters the nodes in between. */
static int go_to(struct grower *grower, const struct pass *pass, size_t stack)
{
	const struct stack_sum *sum = &grower->sums.sum[stack];
	size_t common = 0;
	int err = 0;

	while (common < grower->depth && common < sum->count &&
	       grower->level[common + 1].function == sum->step[common])
		common++;
	while (grower->depth > common)
		leave(grower, pass, stack);
	while (grower->depth < sum->count && !err)
		err = enter(grower, pass, sum->step[grower->depth], stack);
	if (err)
		return err;
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
		grower->level[grower->depth].weight[type] += grower->weight[stack][type];
	if (grower->leaf)
		grower->leaf[stack] = grower->level[grower->depth].pruned_node;
	return 0;
}

/* Stacks that hold nothing make no nodes; their leaf is the root. */
static bool is_nothing(const double *weight)
{
	return weight[ALLOC_OBJECTS] + weight[ALLOC_SPACE] + weight[INUSE_OBJECTS] +
		       weight[INUSE_SPACE] ==
	       0;
}

static int go_through(struct grower *grower, const struct pass *pass)
{
	int err = 0;

	grower->depth = 0;
	grower->level[0] = (struct level){.function = PRUNED_ROOT};
	for (size_t i = 0; i < grower->sums.count && !err; i++) {
		if (!is_nothing(grower->weight[i]))
			err = go_to(grower, pass, i);
	}
	while (grower->depth > 0 && !err)
		leave(grower, pass, grower->sums.count);
	return err;
}

static int nothing_to_add(struct grower *grower, struct level *level, size_t stack)
{
	(void)grower, (void)level, (void)stack;
	return 0;
}

static void count_node(struct grower *grower, struct level *level, size_t stack)
{
	(void)stack;
	grower->bin[bin_of(grower, level)]++;
	grower->node_count++;
}

static int new_pruned_node(struct grower *grower, uint32_t function, uint32_t parent,
			   uint32_t *out_index)
{
	if (grower->pruned_count >= REST_FLAG ||
	    array_reserve(&grower->pruned_node, &grower->pruned_room, grower->pruned_count,
			  sizeof(*grower->pruned_node)))
		return -ENOMEM;
	*out_index = (uint32_t)grower->pruned_count++;
	grower->pruned_node[*out_index] =
		(struct pruned_node){.function = function, .parent = parent};
	return 0;
}

static int add_pruned_node(struct grower *grower, struct level *level, size_t stack)
{
	(void)stack;
	return new_pruned_node(grower, level->function, level[-1].pruned_node, &level->pruned_node);
}

static void set_weight(struct grower *grower, const struct level *level)
{
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
		grower->pruned_node[level->pruned_node].weight[type] = (float)level->weight[type];
}

/* Keeps the node if it is heavy enough; otherwise drops it with everything below it. */
static void keep_or_drop(struct grower *grower, struct level *level, size_t stack)
{
	const size_t bin = bin_of(grower, level);

	if (bin > grower->least || (bin == grower->least && grower->room > 0)) {
		grower->room -= bin == grower->least;
		set_weight(grower, level);
		return;
	}
	grower->pruned_count = level->pruned_node;
	for (size_t i = level->first_stack; i < stack; i++)
		grower->leaf[i] = level[-1].pruned_node | REST_FLAG;
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static void choose_bins(struct grower *grower, size_t enough)
{
	size_t above = 0;

	for (grower->least = BINS - 1;
	     grower->least > 0 && above + grower->bin[grower->least] < enough; grower->least--)
		above += grower->bin[grower->least];
	grower->room = enough > above ? enough - above : 0;
}

/* Adds a PRUNED_REST child to each pruned node below which a node was dropped. */
static int add_rests(struct grower *grower)
{
	const size_t count = grower->pruned_count;
	uint32_t *rest = calloc(count + 1, sizeof(*rest)); /* by pruned_node; 0 = none */
	int err = rest ? 0 : -ENOMEM;

	for (size_t i = 0; i < grower->sums.count && !err; i++) {
		const uint32_t parent = grower->leaf[i] & ~REST_FLAG;

		if (!(grower->leaf[i] & REST_FLAG))
			continue;
		if (!rest[parent])
			err = new_pruned_node(grower, PRUNED_REST, parent, &rest[parent]);
		grower->leaf[i] = rest[parent];
	}
	free(rest);
	return err;
}

static int grow(struct grower *grower, const struct profile *profile, size_t enough)
{
	static const struct pass count = {.add = nothing_to_add, .end = count_node},
				 keep = {.add = add_pruned_node, .end = keep_or_drop};
	size_t deepest = 0;
	int err = weigh(grower, profile);

	for (size_t i = 0; i < grower->sums.count; i++)
		deepest = grower->sums.sum[i].count > deepest ? grower->sums.sum[i].count : deepest;
	grower->level = malloc((deepest + 1) * sizeof(*grower->level));
	grower->bin = calloc(BINS, sizeof(*grower->bin));
	if (err || !grower->level || !grower->bin)
		return -ENOMEM;
	go_through(grower, &count);
	choose_bins(grower, enough);
	grower->leaf = calloc(grower->sums.count + 1, sizeof(*grower->leaf));
	err = grower->leaf ? new_pruned_node(grower, PRUNED_ROOT, 0, &grower->level[0].pruned_node)
			   : -ENOMEM;
	if (!err)
		err = go_through(grower, &keep);
	if (!err) {
		set_weight(grower, &grower->level[0]);
		err = add_rests(grower);
	}
	return err;
}

/* Converts the leaves by sum to leaves by stack. */
static int spread_leaves(const struct grower *grower, const struct profile *profile,
			 uint32_t **out_leaf)
{
	*out_leaf = malloc((profile->stack_count + 1) * sizeof(**out_leaf));
	for (size_t i = 0; *out_leaf && i < profile->stack_count; i++)
		(*out_leaf)[i] = grower->leaf[grower->sums.group_of[i]];
	return *out_leaf ? 0 : -ENOMEM;
}

int pruned_tree_open(const struct profile *profile, const struct pruned_tree_options *options,
		     struct functions *out_functions, struct pruned_tree *out_tree)
{
	struct grower grower = {.by = options->by};
	struct pruned_tree pruned_tree = {0};
	int err = stack_sums_open_empty(profile, STEPS_BY_FUNCTION, STEPS_ROOT_FIRST, &grower.sums);

	if (err)
		return err;
	err = grow(&grower, profile, options->enough);
	if (!err)
		err = spread_leaves(&grower, profile, &pruned_tree.leaf);
	free(grower.weight);
	free(grower.level);
	free(grower.bin);
	free(grower.leaf);
	if (err) {
		free(grower.pruned_node);
		stack_sums_close(&grower.sums);
		return err;
	}
	*out_functions = grower.sums.functions;
	grower.sums.functions = (struct functions){0};
	stack_sums_close(&grower.sums);
	pruned_tree.pruned_node = grower.pruned_node;
	pruned_tree.count = grower.pruned_count;
	pruned_tree.node_count = grower.node_count + 1;
	*out_tree = pruned_tree;
	return 0;
}

void pruned_tree_close(struct pruned_tree *pruned_tree)
{
	free(pruned_tree->pruned_node);
	free(pruned_tree->leaf);
	*pruned_tree = (struct pruned_tree){0};
}
