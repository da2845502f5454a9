/* SPDX-License-Identifier: MIT */
/* owners.c - see owners.h. */
#include "owners.h"

#include <errno.h>
#include <stdlib.h>

/* From the last node that was reached to the root: what each has goes to its dominator, too. */
static int sum_up(struct owners *owners)
{
	const struct references *references = &owners->references;
	const struct dominators *dominators = &owners->dominators;
	const size_t nodes = references->graph.nodes + 1ull;

	owners->bytes = calloc(nodes, sizeof(*owners->bytes));
	owners->blocks = calloc(nodes, sizeof(*owners->blocks));
	if (!owners->bytes || !owners->blocks)
		return -ENOMEM;
	for (uint32_t i = 0; i < references->block_count; i++) {
		owners->bytes[references_node(references, i)] = references->block[i].bytes;
		owners->blocks[references_node(references, i)] = 1;
	}
	for (uint32_t i = dominators->count - 1; i; i--) {
		const uint32_t node = dominators->order[i];

		owners->bytes[dominators->immediate[node]] += owners->bytes[node];
		owners->blocks[dominators->immediate[node]] += owners->blocks[node];
	}
	return 0;
}

static int list_children(struct owners *owners)
{
	const struct dominators *dominators = &owners->dominators;
	const size_t nodes = owners->references.graph.nodes + 2ull;
	uint32_t *first = calloc(nodes, sizeof(*first)), *child = malloc(nodes * sizeof(*child));

	owners->first_child = first;
	owners->child = child;
	if (!first || !child)
		return -ENOMEM;
	for (uint32_t i = 1; i < dominators->count; i++)
		first[dominators->immediate[dominators->order[i]]]++;
	for (size_t i = 1; i < nodes; i++)
		first[i] += first[i - 1];
	/* first[] has the ends so far, and the beginnings then */
	for (uint32_t i = dominators->count - 1; i; i--)
		child[--first[dominators->immediate[dominators->order[i]]]] = dominators->order[i];
	return 0;
}

int owners_find(struct inspected *inspected, const struct used_blocks *blocks,
		struct content_reader *reader, struct owners *out_owners)
{
	*out_owners = (struct owners){.group = calloc(blocks->count + 1, sizeof(uint32_t))};
	const struct census_of of = {
		.block = blocks->block, .count = blocks->count, .group = out_owners->group};
	/* at once: content is that of the blocks while these are the same */
	int err = out_owners->group
			  ? census_take(&inspected->source, &of, reader, &out_owners->census)
			  : -ENOMEM;

	if (!err)
		err = references_find(inspected, blocks, &out_owners->references);
	if (!err)
		err = dominators_find(&out_owners->references.graph, out_owners->references.all,
				      &out_owners->dominators);
	if (!err)
		err = sum_up(out_owners);
	return err ? err : list_children(out_owners);
}

void owners_close(struct owners *owners)
{
	references_close(&owners->references);
	dominators_close(&owners->dominators);
	census_close(&owners->census);
	free(owners->bytes);
	free(owners->blocks);
	free(owners->group);
	free(owners->first_child);
	free(owners->child);
	*owners = (struct owners){0};
}
