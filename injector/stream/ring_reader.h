/* SPDX-License-Identifier: MIT */
/*
 * ring_reader.h - the reader's side of the rings of hi_wire.h: merges them, in an order in which no event comes before those that it follows from.
 *
 * The target may scribble over the rings: every size, type and count is checked before use, and each record is copied out before it is looked at. Times of a
 * record are believed as far as they say which of two goes first: false ones make a false order, and nothing else.
 */
#ifndef HI_RING_READER_H
#define HI_RING_READER_H

#include <stdbool.h>

#include "hi_wire.h"
#include "memory.h"

#define RING_BATCH_BYTES 4096u

/* Where the rings lie: our mapping. */
struct rings {
	struct hi_ring *first;
	uint64_t capacity; /* of each, a power of two */
	uint32_t count;    /* a power of two, at most HI_RINGS */
};

/* One of the rings. */
struct ring_lane {
	struct hi_ring *ring;
	uint64_t tail;
	uint64_t told;        /* tail as the producers know it: each time that we tell them costs one of them a cache line */
	uint64_t mark;        /* records before this position are what is to be read, */
	uint64_t limit;       /* and others before this one as far as the order demands it; both were the ring's head a while ago */
	uint64_t first;       /* first word of the record at tail, 0 = not known to be committed yet */
	uint64_t cycles;      /* and its time */
	uint64_t waited_for;  /* records that begin before this position were reserved */
	uint64_t given_up_ns; /* when the BUSY record at tail was marked as given up */
	uint64_t waited_ns;   /* before this time; whichever of them is unfinished is waited for from then on, all at the same time */
};

struct ring_reader {
	struct ring_lane lane[HI_RINGS];
	uint32_t count; /* 0: not open */
	uint32_t busy_count;
	struct ring_lane *busy[HI_RINGS]; /* those with something below their limit, as of the last look */
	uint64_t capacity;                /* of each ring; ours: never read back */
	uint64_t told_bytes;              /* consumed at most before the producers are told */
	bool asks_ahead;                  /* for lines of memory, to write to them: set where the CPU can */
	bool is_damaged;                  /* a head was where it cannot be */
	uint64_t skipped;                 /* bytes given up because their producer never finished, or because they made no sense */
	uint64_t allocs, frees;           /* records taken, of these types */
};

union ring_record {
	struct hi_record_header header;
	struct hi_record_alloc alloc;
	struct hi_record_known known;
	struct hi_record_free free;
	struct hi_record_region region;
	uint64_t word[HI_RING_SIZE_MAX / 8];
};

/* There is nothing to read before the first mark. */
void ring_reader_open(struct ring_reader *reader, const struct rings *rings);

/*
 * What was reserved so far will be read, and what comes later will not, so that a target that writes faster than it is read cannot keep the reader for ever.
 */
void ring_reader_mark(struct ring_reader *reader);

/* Records copied out and checked, one behind the other: for each of thousands a millisecond what is done only once counts. */
struct ring_batch {
	size_t enough;   /* the caller says: so many bytes at the least, unless there are no more; at most RING_BATCH_BYTES */
	size_t size, at; /* bytes in use, and of these those that ring_batch_next() has handed out */
	uint64_t word[(RING_BATCH_BYTES + HI_RING_SIZE_MAX) / 8];
};

/*
 * The next finished records: 1 = there are some, 0 = none now, -EPROTO = a ring is damaged beyond repair. A record that its producer has left unfinished
 * for patience_ns of now_ns is skipped (0 = at once: nobody writes any more); until then it holds up all.
 */
must_check int ring_reader_read(struct ring_reader *reader, uint64_t now_ns, uint64_t patience_ns, struct ring_batch *out_batch);

/* NULL: that was all. Of a record is there as much as its size says. */
static inline const union ring_record *ring_batch_next(struct ring_batch *batch)
{
	const union ring_record *record = (const union ring_record *)(const void *)(batch->word + batch->at / sizeof(uint64_t));
	if (batch->at >= batch->size)
		return NULL;
	batch->at += record->header.size;
	return record;
}

/* Gives the producers all the room there is. Whenever there is nothing to read it has been done; it is for those who stop before that. */
void ring_reader_release(struct ring_reader *reader);

#endif
