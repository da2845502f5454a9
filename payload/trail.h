/* SPDX-License-Identifier: MIT */
/*
 * trail.h - the rest of a stack, known from an earlier walk (struct hi_trail, hi_wire.h): to leave its frames again takes a look at what they hold, and no
 * rules. See trail.c for why that is right.
 *
 * A trail belongs to the scratch of a thread, and so to the one visit that may use that. No allocation, no lock, every loop is bounded.
 */
#ifndef PAYLOAD_TRAIL_H
#define PAYLOAD_TRAIL_H

#include <stdbool.h>

#include "frames.h"
#include "hi_wire.h"

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

/*
 * After a walk that came to its proper end, by this directory and up to this top, but did not find all on the trail: most often nothing, but once in a while it
 * is to be learned.
 */
void trail_offer(struct hi_trail *trail, uint64_t stamp, uint64_t top);

/* Learns the walk that began here, if the last offer was taken. Apart from the offer, as both would need too much stack at a time. */
void trail_learn(struct hi_trail *trail, const struct hi_state *state, const struct registers *leaf);

#endif
