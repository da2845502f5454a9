/* SPDX-License-Identifier: MIT */
/* frames.h - the registers of a stack walk, and the hash of the frames that it has found. */
#ifndef PAYLOAD_FRAMES_H
#define PAYLOAD_FRAMES_H

#include <stdint.h>

/* The registers of a frame, as they are after its call returns. Only some frames need bp. */
struct registers {
	uint64_t pc, sp, bp;
};

#define FRAMES_HASH 0xbf58476d1ce4e5b9ull

/* Adds one frame to the hash, leaf first. The hash before the first frame is 0. */
static inline uint64_t frames_hash(uint64_t hash, uint64_t frame)
{
	return hash * FRAMES_HASH + frame;
}

#endif
