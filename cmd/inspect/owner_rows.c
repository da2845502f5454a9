/* SPDX-License-Identifier: MIT */
/* owner_rows.c - see owner_rows.h. */
#include "owner_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct member {
	uint32_t group, node;
};

struct making {
	const struct owners *owners;
	struct owner_rows *rows;
	uint64_t least;
	/* By group: what the place that is looked at retains of it; all 0 in between. */
	struct owner_held *held;
	uint32_t *todo, *met; /* nodes; groups */
};

static int add_row(struct owner_rows *rows, const struct owner_row *row)
{
	if (rows->count == rows->room) {
		const size_t room = rows->room ? 2 * rows->room : 256;
		struct owner_row *grown = realloc(rows->row, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		rows->row = grown;
		rows->room = room;
	}
	rows->row[rows->count++] = *row;
	return 0;
}

static bool is_block(const struct owners *owners, uint32_t node)
{
	return !references_root(&owners->references, node);
}

static void add_node(const struct owners *owners, uint32_t node, struct owner_row *row)
{
	row->count++;
	row->own += references_block(&owners->references, node)->bytes;
	row->bytes += owners->bytes[node];
	row->blocks += owners->blocks[node];
}

/* More bytes first; then as they come, by address. */
static int compare_rows(const void *a, const void *b)
{
	const struct owner_row *left = a, *right = b;

	if (left->bytes != right->bytes)
		return left->bytes > right->bytes ? -1 : 1;
	if (left->node != right->node)
		return left->node < right->node ? -1 : 1;
	return (left->group > right->group) - (left->group < right->group);
}

/* ---- classes --------------------------------------------------------------------------------- */

static int compare_members(const void *a, const void *b)
{
	const struct member *left = a, *right = b;

	if (left->group != right->group)
		return left->group < right->group ? -1 : 1;
	return (left->node > right->node) - (left->node < right->node);
}

/* Nodes of which one row is made, and the group that they are of; GRAPH_NONE: it is a place. */
struct members {
	struct member *member; /* owned */
	size_t count;
	uint32_t group;
};

/*
 * The blocks that these nodes dominate immediately, by group, without those of their own. To be
 * freed; NULL: no memory.
 */
static struct member *children_of(const struct owners *owners, const struct members *parents,
				  size_t *out_count)
{
	const struct member *parent = parents->member;
	const uint32_t *first = owners->first_child;
	size_t count = 0, room = 1;

	for (size_t i = 0; i < parents->count; i++)
		room += first[parent[i].node + 1] - first[parent[i].node];
	struct member *member = malloc(room * sizeof(*member));

	for (size_t i = 0; i < parents->count && member; i++)
		for (uint32_t at = first[parent[i].node]; at < first[parent[i].node + 1]; at++) {
			const uint32_t node = owners->child[at];

			if (is_block(owners, node) && owners_group(owners, node) != parents->group)
				member[count++] = (struct member){owners_group(owners, node), node};
		}
	if (count)
		qsort(member, count, sizeof(*member), compare_members);
	*out_count = count;
	return member;
}

static int add_classes(struct making *making, const struct members *parents, unsigned depth);

/*
 * With those of the same class that they dominate by way of it alone, as in lists and trees: these
 * are a part of their row.
 */
static int extend(const struct owners *owners, const struct member *first, struct owner_row *row,
		  struct members *out_members)
{
	struct member *member = malloc((row->blocks + 1ull) * sizeof(*member));
	size_t count = row->count;

	if (!member)
		return -ENOMEM;
	memcpy(member, first, count * sizeof(*member));
	for (size_t i = 0; i < count; i++)
		for (uint32_t at = owners->first_child[member[i].node];
		     at < owners->first_child[member[i].node + 1]; at++) {
			const uint32_t node = owners->child[at];

			if (owners_group(owners, node) != row->group)
				continue;
			member[count++] = (struct member){row->group, node};
			row->count++;
			row->own += references_block(&owners->references, node)->bytes;
		}
	*out_members = (struct members){member, count, row->group};
	return 0;
}

/* The row of these blocks, and below it those of what they retain. */
static int add_class(struct making *making, const struct member *first, struct owner_row *row)
{
	struct members members = {0};
	int err = extend(making->owners, first, row, &members);

	row->node = GRAPH_NONE;
	if (!err)
		err = add_row(making->rows, row);
	if (!err && row->depth < OWNER_ROWS_DEPTH && row->bytes > row->own)
		err = add_classes(making, &members, row->depth + 1);
	free(members.member);
	return err;
}

/* One class of the members, from `at` on, as a row without a place: `node` has where it begins. */
static struct owner_row class_at(const struct making *making, const struct member *member,
				 size_t count, size_t *at, unsigned depth)
{
	struct owner_row row = {.depth = depth, .group = member[*at].group, .node = (uint32_t)*at};

	for (; *at < count && member[*at].group == row.group; ++*at)
		add_node(making->owners, member[*at].node, &row);
	return row;
}

/* The rows of what the members are, and below each of what they retain. */
static int add_members(struct making *making, const struct member *member, size_t count,
		       unsigned depth)
{
	struct owner_rows classes = {0};
	int err = 0;

	for (size_t at = 0; at < count && !err;) {
		const struct owner_row row = class_at(making, member, count, &at, depth);

		if (row.bytes >= making->least)
			err = add_row(&classes, &row);
	}
	if (classes.count)
		qsort(classes.row, classes.count, sizeof(*classes.row), compare_rows);
	for (size_t i = 0; i < classes.count && !err; i++)
		err = add_class(making, &member[classes.row[i].node], &classes.row[i]);
	free(classes.row);
	return err;
}

static int add_classes(struct making *making, const struct members *parents, unsigned depth)
{
	size_t count = 0;
	struct member *member = children_of(making->owners, parents, &count);
	const int err = member ? add_members(making, member, count, depth) : -ENOMEM;

	free(member);
	return err;
}

/* ---- places ---------------------------------------------------------------------------------- */

static void take_held(struct owner_row *row, const struct owner_held *held)
{
	unsigned at = row->held_count;

	if (at == OWNER_ROW_HELD && row->held[--at].bytes >= held->bytes)
		return;
	for (; at && row->held[at - 1].bytes < held->bytes; at--)
		row->held[at] = row->held[at - 1];
	row->held[at] = *held;
	row->held_count += row->held_count < OWNER_ROW_HELD;
}

/* Of all that the place retains, by class. Each block is retained by one place. */
static void find_held(struct making *making, struct owner_row *row)
{
	const struct owners *owners = making->owners;
	uint32_t todo = 0, met = 0;

	making->todo[todo++] = row->node;
	while (todo) {
		const uint32_t node = making->todo[--todo];

		for (uint32_t at = owners->first_child[node]; at < owners->first_child[node + 1];
		     at++) {
			const uint32_t child = owners->child[at];

			if (!is_block(owners, child))
				continue;
			struct owner_held *held = &making->held[owners_group(owners, child)];

			if (!held->blocks)
				making->met[met++] = owners_group(owners, child);
			held->group = owners_group(owners, child);
			held->blocks++;
			held->bytes += references_block(&owners->references, child)->bytes;
			making->todo[todo++] = child;
		}
	}
	while (met) {
		take_held(row, &making->held[making->met[--met]]);
		making->held[making->met[met]] = (struct owner_held){0};
	}
}

static int find_places(const struct owners *owners, struct owner_rows *out_places)
{
	const struct references *references = &owners->references;
	int err = 0;

	for (uint32_t i = 0; i < references->root_count && !err; i++) {
		struct owner_row row = {
			.node = i < references->places ? i : references->block_count + i};

		for (uint32_t at = owners->first_child[row.node];
		     at < owners->first_child[row.node + 1]; at++)
			if (is_block(owners, owners->child[at]))
				add_node(owners, owners->child[at], &row);
		if (row.count)
			err = add_row(out_places, &row);
	}
	if (out_places->count)
		qsort(out_places->row, out_places->count, sizeof(*out_places->row), compare_rows);
	return err;
}

static int add_places(struct making *making, const struct owner_rows *places, size_t shown)
{
	int err = 0;

	for (size_t i = 0; i < shown && !err; i++) {
		struct member member = {.node = places->row[i].node};
		const struct members place = {&member, 1, GRAPH_NONE};
		struct owner_row row = places->row[i];

		find_held(making, &row);
		err = add_row(making->rows, &row);
		if (!err)
			err = add_classes(making, &place, 1);
	}
	return err;
}

int owner_rows_make(const struct owners *owners, size_t places, uint64_t least,
		    struct owner_rows *out_rows)
{
	const size_t groups = owners->census.count + 1;
	struct owner_rows all = {0};
	struct making making = {
		.owners = owners,
		.rows = out_rows,
		.least = least,
		.held = calloc(groups, sizeof(*making.held)),
		.met = malloc(groups * sizeof(*making.met)),
		.todo = malloc((owners->references.graph.nodes + 1ull) * sizeof(*making.todo)),
	};
	int err = making.held && making.met && making.todo ? 0 : -ENOMEM;

	*out_rows = (struct owner_rows){0};
	if (!err)
		err = find_places(owners, &all);
	out_rows->places = all.count;
	if (!err)
		err = add_places(&making, &all, places && places < all.count ? places : all.count);
	free(all.row);
	free(making.held);
	free(making.met);
	free(making.todo);
	return err;
}

void owner_rows_close(struct owner_rows *rows)
{
	free(rows->row);
	*rows = (struct owner_rows){0};
}
