/* SPDX-License-Identifier: MIT */
/* frames.h - what a walk goes by, and the hash of what it has found. */
#ifndef PAYLOAD_FRAMES_H
#define PAYLOAD_FRAMES_H

#include <stdint.h>

/* Of a frame; after a call, but for its bp, which only some frames need. */
struct registers {
	uint64_t pc, sp, bp;
};

#define FRAMES_RETURN_BELOW_CFA 8 /* the return address */
#define FRAMES_HASH 0xbf58476d1ce4e5b9ull

/* One more frame, leaf first; 0 before the first. */
static inline uint64_t frames_hash(uint64_t hash, uint64_t frame)
{
	return hash * FRAMES_HASH + frame;
}

#endif
