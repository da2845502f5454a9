/* SPDX-License-Identifier: MIT */
/*
 * ring_reader.h - the reader's side of the ring of hi_wire.h.
 *
 * The target may scribble over the ring: every size, type and count is checked before use, and each record is copied out before it is looked at.
 */
#ifndef HI_RING_READER_H
#define HI_RING_READER_H

#include "hi_wire.h"
#include "memory.h"

struct ring_reader {
	struct hi_ring *ring; /* our mapping */
	uint64_t capacity;    /* ours: never read back from the ring; a power of two */
	uint64_t tail;
	uint64_t head;          /* of the ring, when last looked at: seldom, and likewise our tail is made known seldom */
	uint64_t told;          /* tail as the producers know it */
	uint64_t limit;         /* records that begin at or after this position are left for later; never more than a ring full away */
	uint64_t waited_for;    /* records that begin before this position were reserved */
	uint64_t waited_ns;     /* before this time; whichever of them is unfinished is waited for from then on, all at the same time */
	uint64_t skipped;       /* bytes given up because their producer never finished */
	uint64_t allocs, frees; /* records taken, of these types */
};

union ring_record {
	struct hi_record_header header;
	struct hi_record_alloc alloc;
	struct hi_record_known known;
	struct hi_record_free free;
	struct hi_record_region region;
	uint64_t word[HI_RING_SIZE_MAX / 8];
};

void ring_reader_open(struct ring_reader *reader, struct hi_ring *ring, uint64_t capacity);

/*
 * Sets the limit to where the ring's head is now: what was reserved so far will be read, what comes later will not. Never further than the ring is long, so that a target that
 * writes faster than it is read cannot keep the reader for ever. Before the first call of either there is no limit.
 */
void ring_reader_mark(struct ring_reader *reader);
/* Sets the limit as far as it may be. */
void ring_reader_unmark(struct ring_reader *reader);

/*
 * The next finished record, copied out and checked: 1 = there is one, 0 = none now, -EPROTO = the ring is damaged beyond repair. A record that its producer has left unfinished
 * for patience_ns of now_ns is skipped (0 = at once: nobody writes any more).
 */
must_check int ring_reader_next(struct ring_reader *reader, uint64_t now_ns, uint64_t patience_ns, union ring_record *out_record);

/* Gives the producers all the room there is. Whenever there is no next record it has been done; it is for those who stop before that. */
void ring_reader_release(struct ring_reader *reader);

#endif
