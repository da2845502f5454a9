/* SPDX-License-Identifier: MIT */
/* block_edges.c - see block_edges.h. */
#include "block_edges.h"

#include <stdlib.h>

#define FIRST_ROOM 1024u

void block_edges_open(struct block_edges *edges, uint32_t blocks)
{
	const size_t most = (size_t)blocks * BLOCK_EDGES_EACH + BLOCK_EDGES_LEAST;

	*edges = (struct block_edges){.most = most < UINT32_MAX ? most : UINT32_MAX};
	edges->begin = malloc(((size_t)blocks + 1) * sizeof(*edges->begin));
	if (edges->begin)
		edges->begin[0] = 0;
	edges->is_full = !edges->begin;
}

void block_edges_close(struct block_edges *edges)
{
	free(edges->to);
	free(edges->begin);
	*edges = (struct block_edges){.is_full = true};
}

static bool has_room(struct block_edges *edges)
{
	size_t room = edges->room ? 2 * edges->room : FIRST_ROOM;
	uint32_t *to;

	if (edges->count < edges->room)
		return true;
	if (room > edges->most)
		room = edges->most;
	if (edges->count == room)
		return false;
	to = realloc(edges->to, room * sizeof(*to));
	if (!to)
		return false;
	edges->to = to;
	edges->room = room;
	return true;
}

void block_edges_add(struct block_edges *edges, uint32_t to)
{
	if (!edges->is_full && has_room(edges))
		edges->to[edges->count++] = to;
	else
		edges->is_full = true;
}

void block_edges_end_block(struct block_edges *edges)
{
	if (!edges->is_full)
		edges->begin[++edges->blocks] = (uint32_t)edges->count;
}
