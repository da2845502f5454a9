/* SPDX-License-Identifier: MIT */
/*
 * frame_pool.h - memory for the frames of many stacks, which are freed together: an array of its
 * own for each of a million stacks would cost as much time as reading them, and a header each.
 *
 * Zero-initialized = empty.
 */
#ifndef HI_FRAME_POOL_H
#define HI_FRAME_POOL_H

#include <stddef.h>
#include <stdint.h>

struct frame_pool {
	struct frame_chunk *chunk; /* the latest */
	size_t room, used;         /* of that, in frames */
};

/* An array of frames, valid until close. NULL = out of memory. */
uint32_t *frame_pool_take(struct frame_pool *pool, size_t count);
void frame_pool_close(struct frame_pool *pool);

#endif
