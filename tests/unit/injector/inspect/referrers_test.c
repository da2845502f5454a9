/* SPDX-License-Identifier: MIT */
/* referrers: whose pointers lead to each class, in graphs by hand. */
#include "referrers.h"

#include "made_graph.h"

enum { RED, BLUE, GREEN, GROUPS };

static struct census_group group[GROUPS];
static struct elf_image image;

/* graph: its last nodes are what nothing refers to, and the root. */
static void find(struct references references, uint32_t *groups, struct referrers *out_referrers)
{
	struct owners owners = {.references = references,
				.group = groups,
				.census = {.group = group, .count = GROUPS}};

	owners.references.nothing = references.graph.nodes - 2;
	owners.references.all = references.graph.nodes - 1;
	CHECK_EQ(dominators_find(&references.graph, owners.references.all, &owners.dominators), 0);
	CHECK_EQ(referrers_find(&owners, out_referrers), 0);
	dominators_close(&owners.dominators);
	graph_close(&references.graph);
}

static void check(const struct referrer_list *list, unsigned at, struct referrer want)
{
	CHECK(at < list->count);
	CHECK_EQ(list->first[at].index, want.index);
	CHECK_EQ(list->first[at].blocks, want.blocks);
	CHECK_EQ(list->first[at].is_class, want.is_class);
}

enum { A, B, STACK, BLOCK, OBJECT = BLOCK + 7, NOTHING, ALL, NODES };

/* Blocks 0 and 1 are red, 2 is blue, as is 6, which only that one has; 3 to 5 are green. */
static struct referrers of_two_variables(void)
{
	static const struct made_edge edge[] = {
		{A, BLOCK, 0},
		{A, BLOCK + 1, 1},
		{B, BLOCK + 1, 0},
		{STACK, BLOCK + 2, 0},
		{BLOCK, BLOCK + 3, 0},
		{BLOCK, BLOCK + 4, 1},
		{BLOCK, BLOCK + 3, 2},
		{BLOCK + 1, BLOCK + 3, 0},
		{BLOCK + 2, BLOCK + 4, 0},
		{BLOCK + 2, BLOCK + 6, 1},
		{OBJECT, A, 0},
		{OBJECT, B, 1},
		{NOTHING, BLOCK + 5, 0},
		{ALL, STACK, 0},
		{ALL, OBJECT, 1},
		{ALL, NOTHING, 2},
	};
	static struct reference_root root[] = {
		{.kind = REFERENCE_VARIABLE, .image = &image},
		{.kind = REFERENCE_VARIABLE, .image = &image},
		{.kind = REFERENCE_STACK},
		{.kind = REFERENCE_OBJECT, .image = &image},
		{.kind = REFERENCE_NOTHING},
		{.kind = REFERENCE_ALL},
	};
	static uint32_t groups[] = {RED, RED, BLUE, GREEN, GREEN, GREEN, BLUE};
	struct referrers referrers;

	find((struct references){.graph = made_graph(NODES, edge, sizeof(edge) / sizeof(*edge)),
				 .root = root,
				 .root_count = 6,
				 .places = 3,
				 .block_count = 7},
	     groups, &referrers);
	return referrers;
}

UNIT_TEST(a_block_counts_once_for_each_class_and_place_that_refers_to_it)
{
	struct referrers found = of_two_variables();

	CHECK_EQ(found.count, GROUPS);
	check(&found.group[RED].pointers, 0, (struct referrer){2, A, false});
	check(&found.group[RED].pointers, 1, (struct referrer){1, B, false});
	CHECK_EQ(found.group[RED].pointers.count, 2);
	check(&found.group[GREEN].pointers, 0, (struct referrer){2, RED, true});
	check(&found.group[GREEN].pointers, 1, (struct referrer){1, BLUE, true});
	CHECK_EQ(found.group[GREEN].pointers.count, 2);
	check(&found.group[BLUE].pointers, 0, (struct referrer){1, STACK, false});
	check(&found.group[BLUE].pointers, 1, (struct referrer){1, BLUE, true});
	referrers_close(&found);
}

UNIT_TEST(a_block_is_kept_by_one_place_and_one_module)
{
	struct referrers found = of_two_variables();
	const struct referrer_list *green = &found.group[GREEN].places;

	check(&found.group[RED].places, 0, (struct referrer){1, A, false});
	check(&found.group[RED].places, 1, (struct referrer){1, OBJECT, false});
	check(&found.group[RED].modules, 0, (struct referrer){2, OBJECT, false});
	CHECK_EQ(found.group[RED].modules.count, 1);
	check(&found.group[BLUE].places, 0, (struct referrer){2, STACK, false});
	check(&found.group[BLUE].modules, 0, (struct referrer){2, STACK, false});
	check(green, 0, (struct referrer){1, OBJECT, false});
	check(green, 1, (struct referrer){1, NOTHING, false});
	check(green, 2, (struct referrer){1, ALL, false});
	CHECK_EQ(green->count, 3);
	referrers_close(&found);
}

#define STACKS 5u
#define HELD (1 + 2 + 3 + 4 + 5)

/* Each of five stacks has one more block than the one before it. */
UNIT_TEST(those_of_most_blocks_come_first_and_the_others_are_counted)
{
	struct reference_root root[STACKS + 2];
	struct made_edge edge[HELD + STACKS];
	uint32_t groups[HELD], to = STACKS, edges = 0;
	struct referrers found;

	for (uint32_t i = 0; i < STACKS; i++) {
		root[i] = (struct reference_root){.kind = REFERENCE_STACK};
		for (uint32_t k = 0; k <= i; k++)
			edge[edges++] = (struct made_edge){i, to++, k};
	}
	for (uint32_t i = 0; i < HELD; i++)
		groups[i] = GREEN;
	for (uint32_t i = 0; i < STACKS; i++)
		edge[edges++] = (struct made_edge){to + 1, i, i};
	root[STACKS] = (struct reference_root){.kind = REFERENCE_NOTHING};
	root[STACKS + 1] = (struct reference_root){.kind = REFERENCE_ALL};
	find((struct references){.graph = made_graph(to + 2, edge, edges),
				 .root = root,
				 .root_count = STACKS + 2,
				 .places = STACKS,
				 .block_count = HELD},
	     groups, &found);
	for (unsigned i = 0; i < 2; i++) {
		const struct referrer_list *list =
			i ? &found.group[GREEN].places : &found.group[GREEN].pointers;

		for (uint32_t at = 0; at < REFERRERS_SHOWN; at++)
			check(list, at, (struct referrer){STACKS - at, STACKS - 1 - at, false});
		CHECK_EQ(list->count, REFERRERS_SHOWN);
		CHECK_EQ(list->more, STACKS - REFERRERS_SHOWN);
	}
	CHECK_EQ(found.group[RED].pointers.count + found.group[RED].places.count, 0);
	referrers_close(&found);
}

UNIT_MAIN()
