/* SPDX-License-Identifier: MIT */
/*
 * calltree.c - see calltree.h.
 *
 * A million stacks make a tree of many millions of nodes, of which a picture shows some thousands.
 * So there are two steps. The first builds a tree of the nodes that may be heavy enough, with few
 * data per node, and chooses from it (pruned_tree.h). The second computes the figures of the chosen
 * nodes. A parent is never lighter than its child and always has the lower index, so the heaviest
 * nodes, sorted by weight and then by index, form a tree again. Start at calltree_open().
 */
#include "calltree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pruned_tree.h"

#define NOWHERE UINT32_MAX

_Static_assert(CALLTREE_ROOT == PRUNED_ROOT, "a root is one in both trees");

/* `image` of a pruned node is its index in chosen[]; NOWHERE = not chosen. */
struct calltree_source {
	const struct profile *profile;
	struct calltree_options options;
	struct calltree *tree;
	struct pruned_tree pruned_tree;
	uint32_t *other; /* by chosen node: its CALLTREE_OTHER child, NOWHERE = none */
	struct calltree_node *chosen;
	size_t chosen_count;
	uint32_t *shown; /* by chosen node: its index in tree->node[] */
};

/* ---- which ones are shown -------------------------------------------------------------------- */

static size_t limit_of(size_t limit)
{
	return limit > CALLTREE_LEAST ? limit : CALLTREE_LEAST;
}

struct rank {
	double share;
	uint32_t pruned_node;
};

static int compare_ranks(const void *left, const void *right)
{
	const struct rank *a = left, *b = right;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return a->pruned_node < b->pruned_node ? -1 : a->pruned_node > b->pruned_node;
}

/*
 * The number of nodes that it takes to show the first `first` nodes of rank[]: these, and a
 * CALLTREE_OTHER node for each of them that has children beyond.
 */
static size_t nodes_for(struct calltree_source *source, const struct rank *rank, size_t first)
{
	size_t nodes = first;

	for (size_t i = 0; i < first; i++)
		source->pruned_tree.pruned_node[rank[i].pruned_node].image = 0;
	for (size_t i = first; i < source->pruned_tree.count; i++) {
		struct pruned_node *parent =
			&source->pruned_tree.pruned_node
				 [source->pruned_tree.pruned_node[rank[i].pruned_node].parent];
		nodes += parent->image == 0;
		if (parent->image == 0)
			parent->image = 1; /* counted */
	}
	for (size_t i = 0; i < first; i++)
		source->pruned_tree.pruned_node[rank[i].pruned_node].image = NOWHERE;
	return nodes;
}

/* Marks the pruned nodes to be shown with image 0. */
static int choose(struct calltree_source *source)
{
	const size_t limit = limit_of(source->options.limit);
	struct rank *rank = malloc(source->pruned_tree.count * sizeof(*rank));
	const enum sample_type *type = source->options.is_only_type ? &source->options.type : NULL;
	size_t first = 1, nodes;

	if (!rank)
		return -ENOMEM;
	for (size_t i = 0; i < source->pruned_tree.count; i++)
		rank[i] = (struct rank){
			.share = pruned_node_share(source->pruned_tree.pruned_node,
						   &source->pruned_tree.pruned_node[i], type),
			.pruned_node = (uint32_t)i};
	rank[0].share = 2; /* the root, whatever it weighs */
	qsort(rank, source->pruned_tree.count, sizeof(*rank), compare_ranks);
	while (first < source->pruned_tree.count && first < limit &&
	       rank[first].share >= source->options.fraction && rank[first].share > 0)
		first++;
	while ((nodes = nodes_for(source, rank, first)) > limit && first > limit / 2)
		first = first - limit / 2 < nodes - limit ? limit / 2 : first - (nodes - limit);
	for (size_t i = 0; i < first; i++)
		source->pruned_tree.pruned_node[rank[i].pruned_node].image = 0;
	source->tree->folded = source->pruned_tree.node_count - first;
	source->chosen = calloc(nodes, sizeof(*source->chosen));
	source->other = malloc(nodes * sizeof(*source->other));
	free(rank);
	return source->chosen && source->other ? 0 : -ENOMEM;
}

static uint32_t add_chosen(struct calltree_source *source, uint32_t function, uint32_t parent)
{
	const uint32_t index = (uint32_t)source->chosen_count++;

	source->chosen[index] = (struct calltree_node){.function = function, .parent = parent};
	source->other[index] = NOWHERE;
	return index;
}

/* Sets all images. The image of a light node is the CALLTREE_OTHER node that includes it. */
static void draw_images(struct calltree_source *source)
{
	for (size_t i = 0; i < source->pruned_tree.count; i++) {
		struct pruned_node *pruned_node = &source->pruned_tree.pruned_node[i];
		if (pruned_node->image == 0)
			pruned_node->image = add_chosen(
				source, pruned_node->function,
				source->pruned_tree.pruned_node[pruned_node->parent].image);
	}
	for (size_t i = 1; i < source->pruned_tree.count; i++) {
		struct pruned_node *pruned_node = &source->pruned_tree.pruned_node[i];
		if (pruned_node->image != NOWHERE)
			continue;
		const uint32_t parent = source->pruned_tree.pruned_node[pruned_node->parent].image;
		if (source->chosen[parent].function == CALLTREE_OTHER)
			pruned_node->image = parent;
		else if (source->other[parent] == NOWHERE)
			pruned_node->image = source->other[parent] =
				add_chosen(source, CALLTREE_OTHER, parent);
		else
			pruned_node->image = source->other[parent];
	}
}

/* ---- their figures, and their order ---------------------------------------------------------- */

static void add_figures(struct calltree_source *source)
{
	const struct profile *profile = source->profile;

	for (size_t i = 0; i < profile->row_count; i++) {
		struct calltree_node *node =
			&source->chosen[source->pruned_tree
						.pruned_node[source->pruned_tree.leaf
								     [profile->row[i].key.stack]]
						.image];
		struct estimate estimate[SAMPLE_TYPE_COUNT];

		estimates_of(profile, &profile->row[i], estimate);
		for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
			estimate_add(&node->self[type], &estimate[type]);
	}
	for (size_t i = source->chosen_count; i-- > 0;) {
		struct calltree_node *node = &source->chosen[i];
		for (int type = 0; type < SAMPLE_TYPE_COUNT; type++) {
			estimate_add(&node->total[type], &node->self[type]);
			if (i > 0)
				estimate_add(&source->chosen[node->parent].total[type],
					     &node->total[type]);
		}
	}
}

static int compare_siblings(const void *left, const void *right, void *context)
{
	const struct calltree_source *source = context;
	const struct calltree_node *a = &source->chosen[*(const uint32_t *)left],
				   *b = &source->chosen[*(const uint32_t *)right];
	const struct estimate *x = &a->total[source->options.type],
			      *y = &b->total[source->options.type];

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if ((a->function == CALLTREE_OTHER) != (b->function == CALLTREE_OTHER))
		return a->function == CALLTREE_OTHER ? 1 : -1;
	if (!source->options.by_name && x->value + x->base != y->value + y->base)
		return x->value + x->base > y->value + y->base ? -1 : 1;
	return strcmp(calltree_name(source->tree, a), calltree_name(source->tree, b));
}

/*
 * Copies the chosen nodes, sorted by parent, to tree->node[] in preorder. first: by chosen node,
 * where its children begin in order[].
 */
static void put_in_preorder(struct calltree_source *source, const uint32_t *order, uint32_t *first)
{
	struct calltree *tree = source->tree;
	uint32_t at = 0, parent = 0;

	tree->node[tree->count++] = source->chosen[0];
	source->shown[0] = 0;
	for (;;) {
		/* `at` is a chosen node whose image is tree->node[parent]. */
		if (first[at] < source->chosen_count &&
		    source->chosen[order[first[at]]].parent == at) {
			const uint32_t child = order[first[at]++];
			tree->node[tree->count] = source->chosen[child];
			tree->node[tree->count].parent = parent;
			tree->node[tree->count].depth = tree->node[parent].depth + 1;
			parent = source->shown[child] = (uint32_t)tree->count++;
			at = child;
			continue;
		}
		tree->node[parent].end = (uint32_t)tree->count;
		if (at == 0)
			return;
		at = source->chosen[at].parent;
		parent = tree->node[parent].parent;
	}
}

static int put_in_order(struct calltree_source *source)
{
	const size_t count = source->chosen_count;
	uint32_t *order = malloc(count * sizeof(*order)), *first = malloc(count * sizeof(*first));
	int err = 0;

	source->tree->node = malloc(count * sizeof(*source->tree->node));
	source->shown = malloc(count * sizeof(*source->shown));
	if (order && first && source->tree->node && source->shown) {
		for (size_t i = 0; i < count; i++) {
			order[i] = (uint32_t)i;
			first[i] = NOWHERE;
		}
		/* The root stays first: only the root is its own parent. */
		qsort_r(order + 1, count - 1, sizeof(*order), compare_siblings, source);
		for (size_t i = count; i-- > 1;)
			first[source->chosen[order[i]].parent] = (uint32_t)i;
		put_in_preorder(source, order, first);
	} else
		err = -ENOMEM;
	free(order);
	free(first);
	return err;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int note_places(struct calltree_source *source)
{
	const struct profile *profile = source->profile;
	const struct functions *functions = &source->tree->functions;
	struct calltree_place *place = calloc(functions->count + 1, sizeof(*place));

	if (!place)
		return -ENOMEM;
	for (size_t f = 0; f < profile->frame_count; f++) {
		const int32_t module = profile->frame[f].module;
		for (uint32_t i = functions->first[f]; i < functions->first[f + 1]; i++) {
			struct calltree_place *at = &place[functions->call[i].function];
			if (!at->file)
				at->file = functions->call[i].file;
			if (!at->module && module >= 0 && (size_t)module < profile->module_count)
				at->module = profile->module[module].path;
		}
	}
	source->tree->place = place;
	return 0;
}

static void forget_chosen(struct calltree_source *source)
{
	free(source->chosen);
	free(source->other);
	source->chosen = NULL;
	source->other = NULL;
	source->chosen_count = 0;
}

int calltree_cut(struct calltree *tree, size_t limit)
{
	struct calltree_source *source = tree->source;
	int err;

	source->tree = tree; /* the caller may have moved the tree */
	source->options.limit = limit;
	free(tree->node);
	free(source->shown);
	tree->node = NULL;
	source->shown = NULL;
	tree->count = 0;
	for (size_t i = 0; i < source->pruned_tree.count; i++)
		source->pruned_tree.pruned_node[i].image = NOWHERE;
	err = choose(source);
	if (!err) {
		draw_images(source);
		add_figures(source);
		err = put_in_order(source);
	}
	forget_chosen(source);
	return err;
}

int calltree_open(const struct profile *profile, const struct calltree_options *options,
		  struct calltree *out_tree)
{
	struct calltree tree = {.source = calloc(1, sizeof(*tree.source))};
	const struct pruned_tree_options pruned_tree = {.enough = limit_of(options->limit),
							.by = options->is_only_type ? &options->type
										    : NULL};
	int err = -ENOMEM;

	if (tree.source) {
		*tree.source = (struct calltree_source){
			.profile = profile, .options = *options, .tree = &tree};
		err = pruned_tree_open(profile, &pruned_tree, &tree.functions,
				       &tree.source->pruned_tree);
	}
	if (!err)
		err = note_places(tree.source);
	if (!err)
		err = calltree_cut(&tree, options->limit);
	if (err)
		calltree_close(&tree);
	else
		*out_tree = tree;
	return err;
}

void calltree_close(struct calltree *tree)
{
	if (tree->source) {
		pruned_tree_close(&tree->source->pruned_tree);
		free(tree->source->shown);
		free(tree->source);
	}
	free(tree->node);
	free(tree->place);
	functions_close(&tree->functions);
	*tree = (struct calltree){0};
}

uint32_t calltree_leaf(const struct calltree *tree, uint32_t stack)
{
	const struct pruned_tree *pruned_tree = &tree->source->pruned_tree;

	return tree->source->shown[pruned_tree->pruned_node[pruned_tree->leaf[stack]].image];
}

const char *calltree_name(const struct calltree *tree, const struct calltree_node *node)
{
	if (node->function == CALLTREE_ROOT)
		return "all";
	return node->function == CALLTREE_OTHER ? "(other)" : tree->functions.name[node->function];
}
