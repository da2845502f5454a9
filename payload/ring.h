/* SPDX-License-Identifier: MIT */
/*
 * ring.h - the producer's side of the rings (hi_wire.h describes the protocol). Never waits: what does not fit is refused.
 */
#ifndef PAYLOAD_RING_H
#define PAYLOAD_RING_H

#include "hi_wire.h"

enum ring_outcome {
	RING_COMMITTED,
	RING_FULL,   /* or so contended that it might as well be */
	RING_LOST,   /* we were away for so long that the reader gave the record up */
	RING_CLOSED, /* disarmed meanwhile, or in a child that a signal handler forked: nothing is told any more */
};

/* How much of each ring a record may fill: the last quarter is kept for frees, so that a block that was seen to come is seen to go. */
enum ring_class { RING_ORDINARY, RING_VITAL };

/*
 * Appends a record to ring number `home`, modulo how many there are, or the next that has room. It has `bytes`, a multiple of 8 and at least a header's; its
 * size becomes that, rounded up to HI_RING_UNIT (what is between holds zeros already), whatever record->size says. Records are read by words of 8 bytes: a word
 * that was written in parts a moment ago takes a while to be read.
 */
enum ring_outcome ring_put(const struct hi_state *state, uint64_t home, const struct hi_record_header *record, uint32_t bytes, enum ring_class class);

#endif
