/* SPDX-License-Identifier: MIT */
/* graph.c - see graph.h. */
#include "graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 4096u

static int grow(uint32_t **array, size_t room)
{
	uint32_t *grown = realloc(*array, room * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*array = grown;
	return 0;
}

static size_t larger(size_t room)
{
	return room ? room + room / 2 : ROOM_MIN;
}

/* first[] has room for the node that comes next, and for the end of it. */
static int make_node_room(struct graph *graph)
{
	if (graph->nodes + 2ull <= graph->node_room)
		return 0;
	const size_t room = larger(graph->node_room);
	const int err = grow(&graph->first, room);

	if (err)
		return err;
	if (!graph->node_room)
		graph->first[0] = 0;
	graph->node_room = room;
	return 0;
}

int graph_add_edge(struct graph *graph, uint32_t to, uint64_t word)
{
	int err = make_node_room(graph);

	if (err)
		return err;
	if (graph->edges > graph->first[graph->nodes] && graph->to[graph->edges - 1] == to)
		return 0;
	if (graph->edges == GRAPH_EDGES_MAX) {
		graph->is_cut = true;
		return 0;
	}
	if (graph->edges == graph->edge_room) {
		const size_t room = larger(graph->edge_room);

		err = grow(&graph->to, room);
		if (!err)
			err = grow(&graph->word, room);
		if (err)
			return err;
		graph->edge_room = room;
	}
	graph->to[graph->edges] = to;
	graph->word[graph->edges++] = word < UINT32_MAX ? (uint32_t)word : UINT32_MAX;
	return 0;
}

int graph_end_node(struct graph *graph)
{
	const int err = make_node_room(graph);

	if (!err)
		graph->first[++graph->nodes] = graph->edges;
	return err;
}

void graph_close(struct graph *graph)
{
	free(graph->first);
	free(graph->to);
	free(graph->word);
	free(graph->rank);
	*graph = (struct graph){0};
}

/* ---- what is reached ------------------------------------------------------------------------- */

/* Gives the rank to all nodes without one to which this one leads, and to itself. */
static void reach(const struct graph *graph, uint8_t *rank, struct graph_root root, uint32_t *todo)
{
	uint32_t count = 0;

	if (rank[root.node] != GRAPH_UNREACHED)
		return;
	rank[root.node] = root.rank;
	todo[count++] = root.node;
	while (count) {
		const uint32_t from = todo[--count];

		for (uint32_t i = graph->first[from]; i < graph->first[from + 1]; i++) {
			if (rank[graph->to[i]] != GRAPH_UNREACHED)
				continue;
			rank[graph->to[i]] = root.rank;
			todo[count++] = graph->to[i];
		}
	}
}

int graph_rank(struct graph *graph, const struct graph_root *root, size_t roots, size_t more)
{
	uint32_t *todo = malloc((graph->nodes + 1ull) * sizeof(*todo));
	unsigned rank = 0, next;

	graph->rank = calloc(graph->nodes + more + 1, sizeof(*graph->rank));
	if (!todo || !graph->rank) {
		free(todo);
		return -ENOMEM;
	}
	memset(graph->rank, GRAPH_UNREACHED, graph->nodes);
	/* by rising rank, of which there are few */
	for (; rank < GRAPH_UNREACHED; rank = next) {
		next = GRAPH_UNREACHED;
		for (size_t i = 0; i < roots; i++)
			if (root[i].rank == rank)
				reach(graph, graph->rank, root[i], todo);
			else if (root[i].rank > rank && root[i].rank < next)
				next = root[i].rank;
	}
	free(todo);
	return 0;
}

/* ---- leaders --------------------------------------------------------------------------------- */

/* Of nodes that were not reached: those to which another one of them refers. */
static void mark_owned(const struct graph *graph, uint8_t *is_owned)
{
	for (uint32_t node = 0; node < graph->nodes; node++) {
		if (graph->rank[node] != GRAPH_UNREACHED)
			continue;
		for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++)
			if (graph->to[i] != node)
				is_owned[graph->to[i]] = true;
	}
}

static void find_leaders(const struct graph *graph, const uint8_t *is_owned, uint8_t *rank,
			 uint32_t *todo, struct graph_leaders *leaders)
{
	for (int is_ring = 0; is_ring < 2; is_ring++)
		for (uint32_t node = 0; node < graph->nodes; node++)
			if (rank[node] == GRAPH_UNREACHED && (is_ring || !is_owned[node])) {
				leaders->node[leaders->count++] = node;
				reach(graph, rank, (struct graph_root){.node = node}, todo);
			}
}

int graph_find_leaders(const struct graph *graph, struct graph_leaders *out_leaders)
{
	const size_t nodes = graph->nodes + 1ull;
	uint8_t *is_owned = calloc(nodes, sizeof(*is_owned)), *rank = malloc(nodes);
	uint32_t *todo = malloc(nodes * sizeof(*todo));
	size_t count = 0;

	for (uint32_t node = 0; node < graph->nodes; node++)
		count += graph->rank[node] == GRAPH_UNREACHED;
	*out_leaders =
		(struct graph_leaders){.node = malloc((count + 1) * sizeof(*out_leaders->node))};
	const int err = is_owned && rank && todo && out_leaders->node ? 0 : -ENOMEM;

	if (!err) {
		memcpy(rank, graph->rank, graph->nodes);
		mark_owned(graph, is_owned);
		find_leaders(graph, is_owned, rank, todo, out_leaders);
	}
	free(is_owned);
	free(rank);
	free(todo);
	return err;
}
