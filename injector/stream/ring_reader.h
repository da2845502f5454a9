/* SPDX-License-Identifier: MIT */
/*
 * ring_reader.h - the reader's side of the rings of hi_wire.h: merges them, in an order in which no
 * event precedes the events that caused it.
 *
 * The target may overwrite the rings at any time: every size, type and count is checked before use,
 * and each record is copied out before it is examined. The times of records are used only to decide
 * which of two records comes first: false times produce a false order, and nothing else.
 */
#ifndef HI_RING_READER_H
#define HI_RING_READER_H

#include <stdbool.h>

#include "hi_wire.h"
#include "memory.h"

#define RING_BATCH_BYTES 4096u

/* The rings, in the injector's own mapping. */
struct rings {
	struct hi_ring *first;
	uint64_t capacity; /* of each, a power of two */
	uint32_t count;    /* a power of two, at most HI_RINGS */
};

/* One of the rings. */
struct ring_lane {
	struct hi_ring *ring;
	uint64_t tail;
	/*
	 * tail as last published to the producers: each publication costs one of them a cache line
	 */
	uint64_t published;
	uint64_t mark; /* records before this position are to be read */
	/*
	 * records from mark to this position are read, too, if the order demands it; mark and limit
	 * were both the ring's head a while ago
	 */
	uint64_t limit;
	/* first word of the record at tail; 0 = not known to be committed yet */
	uint64_t first;
	uint64_t cycles; /* time of that record */
	/* records that begin before this position were reserved before waited_ns */
	uint64_t waited_for;
	uint64_t given_up_ns; /* when the BUSY record at tail was marked as given up */
	/* since this time the reader has waited for all unfinished records before waited_for */
	uint64_t waited_ns;
};

struct ring_reader {
	struct ring_lane lane[HI_RINGS];
	uint32_t count; /* 0: not open */
	uint32_t busy_count;
	/* those with records below their limit, as of the last check */
	struct ring_lane *busy[HI_RINGS];
	/* of each ring; the injector's own copy, never read back from the target */
	uint64_t capacity;
	uint64_t publish_bytes; /* bytes consumed at most before tail is published */
	/* prefetches cache lines for writing: set if the CPU can */
	bool asks_ahead;
	bool is_damaged; /* a head was at an impossible position */
	/* bytes given up because their producer never finished, or because they were invalid */
	uint64_t skipped;
	uint64_t allocs, frees; /* records taken, of these types */
};

union ring_record {
	struct hi_record_header header;
	struct hi_record_alloc alloc;
	struct hi_record_known known;
	struct hi_record_free free;
	struct hi_record_region region;
	struct hi_record_mapping mapping;
	struct hi_record_named named;
	uint64_t word[HI_RING_SIZE_MAX / 8];
};

/* After this, there is nothing to read until the first mark. */
void ring_reader_open(struct ring_reader *reader, const struct rings *rings);

/*
 * Records reserved so far will be read, later ones will not, so that a target that writes faster
 * than the reader reads cannot keep the reader busy forever.
 */
void ring_reader_mark(struct ring_reader *reader);

/*
 * A batch of records that were copied out and checked, one after the other. With thousands per
 * millisecond, it matters that some work is done only once per batch.
 */
struct ring_batch {
	/*
	 * set by the caller, at most RING_BATCH_BYTES: read at least so many bytes, unless there
	 * are no more
	 */
	size_t enough;
	size_t size, at; /* bytes in use; bytes of these that ring_batch_next() has returned */
	uint64_t word[(RING_BATCH_BYTES + HI_RING_SIZE_MAX) / 8];
};

/*
 * Reads the next finished records: 1 = there are some, 0 = none now, -EPROTO = a ring is damaged
 * beyond repair. A record that its producer has left unfinished for patience_ns, measured by
 * now_ns, is skipped (0 = at once: no thread writes any more); until then it holds up all others.
 */
must_check int ring_reader_read(struct ring_reader *reader, uint64_t now_ns, uint64_t patience_ns,
				struct ring_batch *out_batch);

/* The next record of the batch; NULL: no more. Only header.size bytes of the record exist. */
static inline const union ring_record *ring_batch_next(struct ring_batch *batch)
{
	const union ring_record *record =
		(const union ring_record *)(const void *)(batch->word +
							  batch->at / sizeof(uint64_t));
	if (batch->at >= batch->size)
		return NULL;
	batch->at += record->header.size;
	return record;
}

/*
 * Publishes all consumed room to the producers. ring_reader_read does so whenever there is nothing
 * to read; this is for callers that stop before that.
 */
void ring_reader_release(struct ring_reader *reader);

#endif
