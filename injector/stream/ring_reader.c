/* SPDX-License-Identifier: MIT */
/*
 * ring_reader.c - see ring_reader.h. For the protocol, and why the order is right, see "rings" in
 * hi_wire.h.
 */
#include "ring_reader.h"

#include <errno.h>

/* most consumed bytes before they are published to the producers */
#define PUBLISH_BYTES_MAX 4096u
/* a record's line is prefetched this far ahead: the line is in a producer's cache */
#define AHEAD_BYTES 1024u
#define TOLD_SHARE 64u /* if smaller: this part of the ring */
/* after this time no instruction of the producer is still running, and what it stored is visible */
#define GIVE_UP_NS 2000000u

void ring_reader_open(struct ring_reader *reader, const struct rings *rings)
{
	const uint64_t share = rings->capacity / TOLD_SHARE;
	*reader = (struct ring_reader){
		.count = rings->count,
		.capacity = rings->capacity,
		.publish_bytes = share < PUBLISH_BYTES_MAX ? share : PUBLISH_BYTES_MAX};
	for (uint32_t i = 0; i < reader->count; i++)
		reader->lane[i].ring = hi_ring_at(rings->first, rings->capacity, i);
}

static uint64_t head_of(const struct ring_lane *lane)
{
	return __atomic_load_n(&lane->ring->head, __ATOMIC_ACQUIRE);
}

/*
 * Is this a possible head: on a unit boundary, and not further from `from` than the ring is long?
 */
static bool is_place(const struct ring_reader *reader, uint64_t from, uint64_t head)
{
	return head - from <= reader->capacity && head % HI_RING_UNIT == 0;
}

/* Reads all marks before the first limit. */
void ring_reader_mark(struct ring_reader *reader)
{
	struct ring_lane *const end = reader->lane + reader->count;
	reader->is_damaged = false;
	for (struct ring_lane *lane = reader->lane; lane < end; lane++)
		lane->mark = head_of(lane);
	for (struct ring_lane *lane = reader->lane; lane < end; lane++) {
		lane->limit = head_of(lane);
		if (!is_place(reader, lane->tail, lane->mark) ||
		    !is_place(reader, lane->mark, lane->limit) ||
		    !is_place(reader, lane->tail, lane->limit))
			reader->is_damaged = true;
	}
}

static uint64_t *word_at(const struct ring_reader *reader, const struct ring_lane *lane,
			 uint64_t position)
{
	return (uint64_t *)(void *)(lane->ring->data + (position & (reader->capacity - 1)));
}

static void release(struct ring_lane *lane)
{
	if (lane->published == lane->tail)
		return;
	lane->published = lane->tail;
	__atomic_store_n(&lane->ring->tail, lane->tail, __ATOMIC_RELEASE);
}

void ring_reader_release(struct ring_reader *reader)
{
	for (uint32_t i = 0; i < reader->count; i++)
		release(&reader->lane[i]);
}

/*
 * Publishes consumed room to the producers. The room is zero again by now: a reserved record must
 * read as zero until its producer begins it.
 */
static void advance(const struct ring_reader *reader, struct ring_lane *lane, uint64_t size)
{
	lane->tail += size;
	lane->first = 0;
	if (lane->tail - lane->published >= reader->publish_bytes)
		release(lane);
}

static void give_up(const struct ring_reader *reader, struct ring_lane *lane, uint64_t size)
{
	for (uint64_t done = 0; done < size; done += sizeof(uint64_t))
		__atomic_store_n(word_at(reader, lane, lane->tail + done), 0, __ATOMIC_RELAXED);
	advance(reader, lane, size);
}

static bool is_size(uint64_t size)
{
	return size >= HI_RING_UNIT && size <= HI_RING_SIZE_MAX && size % HI_RING_UNIT == 0;
}

static bool is_valid(const union ring_record *record, uint64_t size)
{
	switch (record->header.type_busy) {
	case HI_RECORD_ALLOC:
		return record->alloc.frame_count >= 1 &&
		       record->alloc.frame_count <= HI_FRAMES_MAX &&
		       offsetof(struct hi_record_alloc, frame) + 8ull * record->alloc.frame_count <=
			       size;
	case HI_RECORD_KNOWN:
		return size >= sizeof(record->known);
	case HI_RECORD_MAPPING:
		return size >= sizeof(record->mapping) && record->mapping.change &&
		       record->mapping.change < HI_MAPPING_CHANGES;
	case HI_RECORD_NAMED:
		return size >= sizeof(record->named) && record->named.change &&
		       record->named.change < HI_NAMED_CHANGES;
	case HI_RECORD_FREE:
	case HI_RECORD_UNFREE:
	case HI_RECORD_REGION:
		return true;
	default:
		return false;
	}
}

/*
 * How many bytes to give up at tail: the size of a record that was begun; else the zeros up to the
 * next nonzero word.
 */
static uint64_t unfinished_bytes(const struct ring_reader *reader, const struct ring_lane *lane,
				 uint64_t first)
{
	const uint64_t size = first & UINT32_MAX, available = lane->limit - lane->tail;
	if (first)
		return is_size(size) && size <= available ? size : HI_RING_UNIT;
	uint64_t bytes = HI_RING_UNIT;
	while (bytes < available &&
	       !__atomic_load_n(word_at(reader, lane, lane->tail + bytes), __ATOMIC_ACQUIRE))
		bytes += HI_RING_UNIT;
	return bytes;
}

/*
 * True once the record at tail was reserved at least patience_ns ago, as far as the reader knows.
 * Unfinished records after it that were reserved by then do not each start a new wait.
 */
static bool has_stalled(struct ring_lane *lane, uint64_t now_ns, uint64_t patience_ns)
{
	if (!lane->waited_ns || lane->tail >= lane->waited_for) {
		lane->waited_for = lane->limit;
		lane->waited_ns = now_ns ? now_ns : 1;
	}
	return now_ns - lane->waited_ns >= patience_ns;
}

/*
 * Marks a record that was begun, and gives it up once the mark is GIVE_UP_NS old: its producer may
 * just be committing it, by an instruction that is not locked.
 */
static bool is_given_up(const struct ring_reader *reader, struct ring_lane *lane, uint64_t first,
			uint64_t now_ns)
{
	if (first & HI_RING_GIVEN_UP)
		return now_ns - lane->given_up_ns >= GIVE_UP_NS;
	lane->given_up_ns = now_ns;
	__atomic_compare_exchange_n(word_at(reader, lane, lane->tail), &first,
				    first | HI_RING_GIVEN_UP, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
	return false;
}

/*
 * Examines the record at tail, after skipping those that are given up: 1 = it is committed, 0 = the
 * reader waits for it, or there is none; -EPROTO.
 */
static int look(struct ring_reader *reader, struct ring_lane *lane, uint64_t now_ns,
		uint64_t patience_ns)
{
	while (lane->tail < lane->limit) {
		const uint64_t first =
			__atomic_load_n(word_at(reader, lane, lane->tail), __ATOMIC_ACQUIRE);
		if (first && !(first & HI_RING_BUSY)) {
			if (!is_size(first & UINT32_MAX) ||
			    (first & UINT32_MAX) > lane->limit - lane->tail)
				return -EPROTO;
			lane->first = first;
			lane->cycles = __atomic_load_n(
				word_at(reader, lane, lane->tail) +
					offsetof(struct hi_record_header, cycles) / 8,
				__ATOMIC_RELAXED);
			return 1;
		}
		if (!has_stalled(lane, now_ns, patience_ns))
			return 0;
		if (first && patience_ns && !is_given_up(reader, lane, first, now_ns))
			return 0;
		const uint64_t lost = unfinished_bytes(reader, lane, first);
		reader->skipped += lost;
		give_up(reader, lane, lost);
	}
	return 0;
}

/* Records of one lane that all come next, whatever the other lanes contain. */
struct run {
	struct ring_lane *lane; /* NULL: there is none */
	uint64_t end;           /* the records that begin before this position */
	/* and whose time is not later than this; the first record belongs to the run in any case */
	uint64_t cycles;
};

/*
 * Chooses the lane whose record comes next, and how long it stays the next one while the other
 * lanes are left alone: records that are written meanwhile do not change what is known of the other
 * lanes. No lane: all that is marked has been read, or the reader waits for a record.
 */
static int choose(struct ring_reader *reader, uint64_t now_ns, uint64_t patience_ns,
		  struct run *out_run)
{
	struct ring_lane *next = NULL;
	uint64_t second = UINT64_MAX;
	unsigned marked = 0;
	bool must_wait = false;
	for (uint32_t i = 0; i < reader->busy_count; i++) {
		struct ring_lane *const lane = reader->busy[i];
		if (!lane->first && lane->tail < lane->limit) {
			const int ready = look(reader, lane, now_ns, patience_ns);
			if (ready < 0)
				return ready;
			must_wait |= !ready && lane->tail < lane->limit;
		}
		marked += lane->tail < lane->mark;
		if (!lane->first)
			continue;
		if (!next || lane->cycles < next->cycles) {
			second = next ? next->cycles : UINT64_MAX;
			next = lane;
		} else if (lane->cycles < second) {
			second = lane->cycles;
		}
	}
	*out_run = (struct run){.lane = marked && !must_wait ? next : NULL, .cycles = second};
	if (out_run->lane)
		out_run->end = marked > (next->tail < next->mark) ? next->limit : next->mark;
	return 0;
}

/*
 * Takes a unit out of the ring and leaves zeros. It works in two halves, and reads each once. So a
 * later load of the copy need not wait for several stores to be merged.
 */
typedef uint64_t unit_half __attribute__((vector_size(HI_RING_UNIT / 2), aligned(8), may_alias));
static inline void take_unit(uint8_t *unit, uint64_t *to)
{
	volatile unit_half *const half = (volatile unit_half *)(void *)unit;
	unit_half *const out = (unit_half *)(void *)to;
	out[0] = half[0];
	out[1] = half[1];
	half[0] = half[1] = (unit_half){0};
}

/* Copies unit by unit, because a record may wrap at a unit boundary. */
static inline void take(const struct ring_reader *reader, const struct ring_lane *lane,
			uint64_t position, uint64_t first, uint64_t *to)
{
	for (uint64_t done = 0; done < (first & UINT32_MAX); done += HI_RING_UNIT)
		take_unit((uint8_t *)word_at(reader, lane, position + done),
			  to + done / sizeof(uint64_t));
	/* the word that was checked, not one that the target may have written since */
	to[0] = first;
}

/*
 * The first word of the next record of a run, if the record is there and plausible. Otherwise 0;
 * choose then finds out why.
 */
static inline uint64_t peek(const struct ring_reader *reader, const struct run *run,
			    uint64_t position)
{
	const uint64_t *word = word_at(reader, run->lane, position);
	if (position >= run->end)
		return 0;
	const uint64_t first = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	const uint64_t size = first & UINT32_MAX;
	const bool is_next =
		!(first & HI_RING_BUSY) && is_size(size) && size <= run->lane->limit - position;
	return is_next && __atomic_load_n(word + offsetof(struct hi_record_header, cycles) / 8,
					  __ATOMIC_RELAXED) <= run->cycles
		       ? first
		       : 0;
}

static void read_run(struct ring_reader *reader, const struct run *run, struct ring_batch *batch)
{
	struct ring_lane *const lane = run->lane;
	uint64_t position = lane->tail;
	for (uint64_t first = lane->first; first && batch->size < batch->enough;
	     first = peek(reader, run, position)) {
		const uint32_t size = first & UINT32_MAX, type = first >> 32;
		uint64_t *const to = batch->word + batch->size / sizeof(uint64_t);
		if (reader->asks_ahead && lane->limit - position > AHEAD_BYTES)
			__builtin_prefetch(word_at(reader, lane, position + AHEAD_BYTES), 1, 3);
		take(reader, lane, position, first, to);
		position += size;
		if (is_valid((const union ring_record *)(const void *)to, size)) {
			reader->allocs += type == HI_RECORD_ALLOC || type == HI_RECORD_KNOWN;
			reader->frees += type == HI_RECORD_FREE;
			batch->size += size;
		} else {
			reader->skipped += size;
		}
	}
	advance(reader, lane, position - lane->tail);
}

/* Collects the lanes with unread records: usually one, or a few, of many. */
static void note_busy(struct ring_reader *reader)
{
	reader->busy_count = 0;
	for (struct ring_lane *lane = reader->lane; lane < reader->lane + reader->count; lane++) {
		if (lane->tail != lane->limit)
			reader->busy[reader->busy_count++] = lane;
	}
}

int ring_reader_read(struct ring_reader *reader, uint64_t now_ns, uint64_t patience_ns,
		     struct ring_batch *out_batch)
{
	int err = reader->is_damaged ? -EPROTO : 0;
	struct run run = {0};
	out_batch->size = out_batch->at = 0;
	note_busy(reader);
	while (!err && out_batch->size < out_batch->enough) {
		err = choose(reader, now_ns, patience_ns, &run);
		if (err || !run.lane)
			break;
		read_run(reader, &run, out_batch);
	}
	if (out_batch->size)
		return 1; /* an error will be found again at the next call */
	ring_reader_release(reader);
	return err;
}
