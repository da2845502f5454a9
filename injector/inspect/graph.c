/* SPDX-License-Identifier: MIT */
/* graph.c - see graph.h. */
#include "graph.h"

#include <errno.h>
#include <stdlib.h>

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
	*graph = (struct graph){0};
}

/* ---- leaders --------------------------------------------------------------------------------- */

enum { SEEN = 1, HAS_OWNER = 2 };

struct search {
	const struct graph *graph;
	uint8_t *state;
	uint32_t *todo;
};

/* Marks what the node leads to, each node once. */
static void reach(struct search *search, uint32_t node)
{
	const struct graph *graph = search->graph;
	uint32_t count = 0;

	if (search->state[node] & SEEN)
		return;
	search->state[node] |= SEEN;
	search->todo[count++] = node;
	while (count) {
		const uint32_t from = search->todo[--count];

		for (uint32_t i = graph->first[from]; i < graph->first[from + 1]; i++) {
			if (search->state[graph->to[i]] & SEEN)
				continue;
			search->state[graph->to[i]] |= SEEN;
			search->todo[count++] = graph->to[i];
		}
	}
}

/* Of nodes that were not reached: those to which another one of them refers. */
static void mark_owned(struct search *search)
{
	const struct graph *graph = search->graph;

	for (uint32_t node = 0; node < graph->nodes; node++) {
		if (search->state[node] & SEEN)
			continue;
		for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++)
			if (graph->to[i] != node)
				search->state[graph->to[i]] |= HAS_OWNER;
	}
}

static int find_leaders(struct search *search, struct graph_leaders *leaders)
{
	const uint32_t nodes = search->graph->nodes;
	size_t count = 0;

	for (uint32_t node = 0; node < nodes; node++)
		count += !(search->state[node] & SEEN);
	leaders->node = malloc((count + 1) * sizeof(*leaders->node));
	if (!leaders->node)
		return -ENOMEM;
	mark_owned(search);
	for (int is_ring = 0; is_ring < 2; is_ring++)
		for (uint32_t node = 0; node < nodes; node++)
			if (!(search->state[node] & SEEN) &&
			    (is_ring || !(search->state[node] & HAS_OWNER))) {
				leaders->node[leaders->count++] = node;
				reach(search, node);
			}
	return 0;
}

int graph_find_leaders(const struct graph *graph, const uint32_t *seed, size_t seeds,
		       struct graph_leaders *out_leaders)
{
	struct search search = {
		.graph = graph,
		.state = calloc(graph->nodes + 1ull, sizeof(*search.state)),
		.todo = malloc((graph->nodes + 1ull) * sizeof(*search.todo)),
	};
	int err = search.state && search.todo ? 0 : -ENOMEM;

	*out_leaders = (struct graph_leaders){0};
	for (size_t i = 0; i < seeds && !err; i++)
		reach(&search, seed[i]);
	if (!err)
		err = find_leaders(&search, out_leaders);
	free(search.state);
	free(search.todo);
	return err;
}
