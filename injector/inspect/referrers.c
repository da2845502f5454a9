/* SPDX-License-Identifier: MIT */
/*
 * referrers.c - see referrers.h. For each referrer the blocks of each group are counted, one
 * referrer after the other, so that there is one counter for each group and not for each pair.
 */
#include "referrers.h"

#include <errno.h>
#include <stdlib.h>

struct counting {
	const struct owners *owners;
	struct referrers *referrers;
	/* By group: of the referrer that is looked at; all 0 in between. */
	uint32_t *blocks;
	uint32_t *met, met_count; /* the groups that have some */
};

static void take(struct referrer_list *list, const struct referrer *referrer)
{
	unsigned at = list->count;

	if (at == REFERRERS_SHOWN) {
		list->more++;
		if (list->first[--at].blocks >= referrer->blocks)
			return;
	}
	for (; at && list->first[at - 1].blocks < referrer->blocks; at--)
		list->first[at] = list->first[at - 1];
	list->first[at] = *referrer;
	list->count += list->count < REFERRERS_SHOWN;
}

static void count_block(struct counting *counting, uint32_t block)
{
	const uint32_t group = counting->owners->group[block];

	if (!counting->blocks[group]++)
		counting->met[counting->met_count++] = group;
}

static struct referrer_list *list_of(struct group_referrers *group, size_t offset)
{
	return (void *)((char *)group + offset);
}

/* offset: of the list in group_referrers. */
static void end_referrer(struct counting *counting, struct referrer referrer, size_t offset)
{
	while (counting->met_count) {
		const uint32_t group = counting->met[--counting->met_count];

		referrer.blocks = counting->blocks[group];
		counting->blocks[group] = 0;
		take(list_of(&counting->referrers->group[group], offset), &referrer);
	}
}

/* ---- items by key ---------------------------------------------------------------------------- */

/* Items of the same key are those of item[] from first[key] to first[key + 1]. */
struct sorted {
	uint32_t *first, *item;
};

static int sort(const uint32_t *key, uint32_t count, size_t keys, struct sorted *out_sorted)
{
	uint32_t *first = calloc(keys + 2, sizeof(*first));
	uint32_t *item = malloc((count + 1ull) * sizeof(*item));

	*out_sorted = (struct sorted){first, item};
	if (!first || !item)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		first[key[i]]++;
	for (size_t i = 1; i < keys + 2; i++)
		first[i] += first[i - 1];
	/* first[] has the ends so far, and the beginnings then */
	for (uint32_t i = count; i--;)
		item[--first[key[i]]] = i;
	return 0;
}

static void close_sorted(struct sorted *sorted)
{
	free(sorted->first);
	free(sorted->item);
}

/* ---- pointers -------------------------------------------------------------------------------- */

/* last: by block, the number of the referrer that was counted for it. */
static void count_pointers(struct counting *counting, uint32_t node, uint32_t *last,
			   uint32_t number)
{
	const struct references *references = &counting->owners->references;
	const struct graph *graph = &references->graph;

	for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
		const uint32_t block = graph->to[i] - references->places;

		if (last[block] == number)
			continue;
		last[block] = number;
		count_block(counting, block);
	}
}

static int find_pointers(struct counting *counting)
{
	const struct owners *owners = counting->owners;
	const struct references *references = &owners->references;
	const uint32_t groups = (uint32_t)owners->census.count;
	const size_t offset = offsetof(struct group_referrers, pointers);
	uint32_t *last = calloc(references->block_count + 1ull, sizeof(*last));
	struct sorted sorted = {0};
	int err = last ? sort(owners->group, references->block_count, groups, &sorted) : -ENOMEM;

	for (uint32_t place = 0; place < references->places && !err; place++) {
		count_pointers(counting, place, last, place + 1);
		end_referrer(counting, (struct referrer){.index = place}, offset);
	}
	for (uint32_t group = 0; group < groups && !err; group++) {
		for (uint32_t i = sorted.first[group]; i < sorted.first[group + 1]; i++)
			count_pointers(counting, references_node(references, sorted.item[i]), last,
				       references->places + group + 1);
		end_referrer(counting, (struct referrer){.index = group, .is_class = true}, offset);
	}
	close_sorted(&sorted);
	free(last);
	return err;
}

/* ---- owners ---------------------------------------------------------------------------------- */

static uint32_t node_of_root(const struct references *references, uint32_t root)
{
	return root < references->places ? root : references->block_count + root;
}

static uint32_t root_of_node(const struct references *references, uint32_t node)
{
	return node < references->places ? node : node - references->block_count;
}

/* By block: which of what is no block dominates it, last on the way to it. */
static int find_places(const struct owners *owners, uint32_t **out_place)
{
	const struct references *references = &owners->references;
	const struct dominators *dominators = &owners->dominators;
	uint32_t *place = malloc((references->block_count + 1ull) * sizeof(*place));

	*out_place = place;
	if (!place)
		return -ENOMEM;
	/* what is not reached, nothing keeps */
	for (uint32_t i = 0; i < references->block_count; i++)
		place[i] = root_of_node(references, references->nothing);
	for (uint32_t i = 0; i < dominators->count; i++) {
		const uint32_t node = dominators->order[i], over = dominators->immediate[node];

		if (references_root(references, node))
			continue;
		place[node - references->places] = references_root(references, over)
							   ? root_of_node(references, over)
							   : place[over - references->places];
	}
	return 0;
}

/* The object that has the place in its data; else the place itself. */
static uint32_t module_of(const struct owners *owners, uint32_t place)
{
	const struct references *references = &owners->references;
	const uint32_t over = owners->dominators.immediate[node_of_root(references, place)];
	const struct reference_root *root =
		over == GRAPH_NONE ? NULL : references_root(references, over);

	return root && root->kind == REFERENCE_OBJECT ? root_of_node(references, over) : place;
}

static int count_by(struct counting *counting, const uint32_t *root, size_t offset)
{
	const struct references *references = &counting->owners->references;
	struct sorted sorted;
	int err = sort(root, references->block_count, references->root_count, &sorted);

	for (uint32_t i = 0; i < references->root_count && !err; i++) {
		for (uint32_t at = sorted.first[i]; at < sorted.first[i + 1]; at++)
			count_block(counting, sorted.item[at]);
		end_referrer(counting, (struct referrer){.index = node_of_root(references, i)},
			     offset);
	}
	close_sorted(&sorted);
	return err;
}

static int find_owners(struct counting *counting)
{
	const struct references *references = &counting->owners->references;
	uint32_t *root = NULL;
	int err = find_places(counting->owners, &root);

	if (!err)
		err = count_by(counting, root, offsetof(struct group_referrers, places));
	for (uint32_t i = 0; i < references->block_count && !err; i++)
		root[i] = module_of(counting->owners, root[i]);
	if (!err)
		err = count_by(counting, root, offsetof(struct group_referrers, modules));
	free(root);
	return err;
}

int referrers_find(const struct owners *owners, struct referrers *out_referrers)
{
	const size_t groups = owners->census.count + 1;
	struct counting counting = {
		.owners = owners,
		.referrers = out_referrers,
		.blocks = calloc(groups, sizeof(*counting.blocks)),
		.met = malloc(groups * sizeof(*counting.met)),
	};

	*out_referrers = (struct referrers){
		.group = calloc(groups, sizeof(*out_referrers->group)),
		.count = owners->census.count,
	};
	int err = counting.blocks && counting.met && out_referrers->group ? 0 : -ENOMEM;
	if (!err)
		err = find_pointers(&counting);
	if (!err)
		err = find_owners(&counting);
	free(counting.blocks);
	free(counting.met);
	return err;
}

void referrers_close(struct referrers *referrers)
{
	free(referrers->group);
	*referrers = (struct referrers){0};
}
