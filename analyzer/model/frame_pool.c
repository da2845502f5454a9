/* SPDX-License-Identifier: MIT */
/* frame_pool.c - chunks of memory, each twice as large as the one before. See frame_pool.h. */
#include "frame_pool.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_ROOM 1024u
#define ROOM_MAX (1u << 18)

struct frame_chunk {
	struct frame_chunk *before;
	uint32_t frame[];
};

static int add_chunk(struct frame_pool *pool, size_t count)
{
	size_t room = pool->room ? pool->room * 2 : FIRST_ROOM;
	struct frame_chunk *chunk;

	room = room < ROOM_MAX ? room : ROOM_MAX;
	room = room > count ? room : count;
	chunk = malloc(sizeof(*chunk) + room * sizeof(*chunk->frame));
	if (!chunk)
		return -ENOMEM;
	chunk->before = pool->chunk;
	*pool = (struct frame_pool){.chunk = chunk, .room = room};
	return 0;
}

uint32_t *frame_pool_take(struct frame_pool *pool, size_t count)
{
	uint32_t *frame;

	if ((!pool->chunk || count > pool->room - pool->used) && add_chunk(pool, count))
		return NULL;
	frame = pool->chunk->frame + pool->used;
	pool->used += count;
	return frame;
}

void frame_pool_close(struct frame_pool *pool)
{
	while (pool->chunk) {
		struct frame_chunk *before = pool->chunk->before;

		free(pool->chunk);
		pool->chunk = before;
	}
	*pool = (struct frame_pool){0};
}
