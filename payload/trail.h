/* SPDX-License-Identifier: MIT */
/*
 * trail.h - the rest of a stack, known from an earlier walk (struct hi_trail, hi_wire.h): to leave its frames again takes a look at what they hold, and no rules. See trail.c for why that is right.
 *
 * A trail belongs to the scratch of a thread, and so to the one visit that may use that. No allocation, no lock, every loop is bounded.
 */
#ifndef PAYLOAD_TRAIL_H
#define PAYLOAD_TRAIL_H

#include <stdbool.h>

#include "frames.h"
#include "hi_wire.h"

/* A walk: where it begins, and up to where it may read. */
struct trail_walk {
	const struct hi_state *state;
	uint64_t stamp; /* of the directory of unwind tables */
	uint64_t top;
	struct registers at;
};

/* What is behind a frame. */
struct trail_rest {
	uint64_t *frame;      /* in: where they go */
	uint32_t count;       /* in: for how many there is room; out: how many there are */
	uint64_t hash, power; /* out: see frames_hash_with() */
	uint64_t next_sp;     /* out, if the frame is not on the trail: one at or above this may be; UINT64_MAX = none is */
};

/* The sp of the first frame that may be on it; UINT64_MAX if none is. */
uint64_t trail_begin(const struct hi_trail *trail, uint64_t stamp, uint64_t top);

/* Whether the walk has come to a frame of the trail, and all behind it still holds, up to the proper end of the stack. */
bool trail_follow(struct hi_trail *trail, const struct registers *at, struct trail_rest *rest);

/* To be called after a walk that came to its proper end, but did not find all on the trail. Most often it does nothing; once in a while this becomes the new trail. */
static inline bool trail_is_due(struct hi_trail *trail)
{
	const uint32_t every = 256, first = 16;

	return trail->walks++ % every == first;
}
void trail_learn(struct hi_trail *trail, const struct trail_walk *walk);

#endif
