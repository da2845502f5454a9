/* SPDX-License-Identifier: MIT */
/* ring_reader.c - see ring_reader.h, and "rings" in hi_wire.h for the protocol and why the order is right. */
#include "ring_reader.h"

#include <errno.h>

#define TOLD_BYTES_MAX 4096u /* consumed at most before the producers are given the room, */
#define TOLD_SHARE 64u       /* or this part of the ring */
#define GIVE_UP_NS 2000000u  /* after which no instruction is still running, and what it stored is to be seen */

void ring_reader_open(struct ring_reader *reader, const struct rings *rings)
{
	*reader = (struct ring_reader){.count = rings->count, .capacity = rings->capacity};
	for (uint32_t i = 0; i < reader->count; i++)
		reader->lane[i].ring = hi_ring_at(rings->first, rings->capacity, i);
}

static uint64_t head_of(const struct ring_lane *lane)
{
	return __atomic_load_n(&lane->ring->head, __ATOMIC_ACQUIRE);
}

/* Where a head may be: on the border of a unit, and not further away than the ring is long. */
static bool is_place(const struct ring_reader *reader, uint64_t from, uint64_t head)
{
	return head - from <= reader->capacity && head % HI_RING_UNIT == 0;
}

/* All marks before the first limit. */
void ring_reader_mark(struct ring_reader *reader)
{
	struct ring_lane *const end = reader->lane + reader->count;
	reader->is_damaged = false;
	for (struct ring_lane *lane = reader->lane; lane < end; lane++)
		lane->mark = head_of(lane);
	for (struct ring_lane *lane = reader->lane; lane < end; lane++) {
		lane->limit = head_of(lane);
		if (!is_place(reader, lane->tail, lane->mark) || !is_place(reader, lane->mark, lane->limit) || !is_place(reader, lane->tail, lane->limit))
			reader->is_damaged = true;
	}
}

static uint64_t *word_at(const struct ring_reader *reader, const struct ring_lane *lane, uint64_t position)
{
	return (uint64_t *)(void *)(lane->ring->data + (position & (reader->capacity - 1)));
}

static void release(struct ring_lane *lane)
{
	if (lane->told == lane->tail)
		return;
	lane->told = lane->tail;
	__atomic_store_n(&lane->ring->tail, lane->tail, __ATOMIC_RELEASE);
}

void ring_reader_release(struct ring_reader *reader)
{
	for (uint32_t i = 0; i < reader->count; i++)
		release(&reader->lane[i]);
}

/* Zero what was consumed, then let producers have it: a reserved record must read zero until its producer begins it. */
static void consume(const struct ring_reader *reader, struct ring_lane *lane, uint64_t size)
{
	const uint64_t share = reader->capacity / TOLD_SHARE;
	for (uint64_t done = 0; done < size; done += sizeof(uint64_t))
		__atomic_store_n(word_at(reader, lane, lane->tail + done), 0, __ATOMIC_RELAXED);
	lane->tail += size;
	lane->first = 0;
	if (lane->tail - lane->told >= (share < TOLD_BYTES_MAX ? share : TOLD_BYTES_MAX))
		release(lane);
}

static bool is_size(uint64_t size)
{
	return size >= HI_RING_UNIT && size <= HI_RING_SIZE_MAX && size % HI_RING_UNIT == 0;
}

static bool is_valid(const union ring_record *record, uint64_t size)
{
	switch (record->header.type_busy) {
	case HI_RECORD_ALLOC:
		return record->alloc.frame_count >= 1 && record->alloc.frame_count <= HI_FRAMES_MAX &&
		       offsetof(struct hi_record_alloc, frame) + 8ull * record->alloc.frame_count <= size;
	case HI_RECORD_KNOWN:
		return size >= sizeof record->known;
	case HI_RECORD_FREE:
	case HI_RECORD_UNFREE:
	case HI_RECORD_REGION:
		return true;
	default:
		return false;
	}
}

/* How much to give up at tail: a begun record by its size, else zeros up to the next word that is not. */
static uint64_t unfinished_bytes(const struct ring_reader *reader, const struct ring_lane *lane, uint64_t first)
{
	const uint64_t size = first & UINT32_MAX, available = lane->limit - lane->tail;
	if (first)
		return is_size(size) && size <= available ? size : HI_RING_UNIT;
	uint64_t bytes = HI_RING_UNIT;
	while (bytes < available && !__atomic_load_n(word_at(reader, lane, lane->tail + bytes), __ATOMIC_ACQUIRE))
		bytes += HI_RING_UNIT;
	return bytes;
}

/* True once the record at tail was reserved at least patience_ns ago, for all we know. Those behind it that are unfinished, too, are not waited for anew, one after the other. */
static bool has_stalled(struct ring_lane *lane, uint64_t now_ns, uint64_t patience_ns)
{
	if (!lane->waited_ns || lane->tail >= lane->waited_for) {
		lane->waited_for = lane->limit;
		lane->waited_ns = now_ns ? now_ns : 1;
	}
	return now_ns - lane->waited_ns >= patience_ns;
}

/* Marks a begun record, and gives it up once the mark has stood for a while: its producer may just be committing it, by an instruction that is not locked. */
static bool is_given_up(const struct ring_reader *reader, struct ring_lane *lane, uint64_t first, uint64_t now_ns)
{
	if (first & HI_RING_GIVEN_UP)
		return now_ns - lane->given_up_ns >= GIVE_UP_NS;
	lane->given_up_ns = now_ns;
	__atomic_compare_exchange_n(word_at(reader, lane, lane->tail), &first, first | HI_RING_GIVEN_UP, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	return false;
}

/* Looks at the record at tail, past those that are given up: 1 = it is committed, 0 = it is waited for, or there is none; -EPROTO. */
static int look(struct ring_reader *reader, struct ring_lane *lane, uint64_t now_ns, uint64_t patience_ns)
{
	while (lane->tail < lane->limit) {
		const uint64_t first = __atomic_load_n(word_at(reader, lane, lane->tail), __ATOMIC_ACQUIRE);
		if (first && !(first & HI_RING_BUSY)) {
			if (!is_size(first & UINT32_MAX) || (first & UINT32_MAX) > lane->limit - lane->tail)
				return -EPROTO;
			lane->first = first;
			lane->cycles = __atomic_load_n(word_at(reader, lane, lane->tail) + offsetof(struct hi_record_header, cycles) / 8, __ATOMIC_RELAXED);
			return 1;
		}
		if (!has_stalled(lane, now_ns, patience_ns))
			return 0;
		if (first && patience_ns && !is_given_up(reader, lane, first, now_ns))
			return 0;
		const uint64_t lost = unfinished_bytes(reader, lane, first);
		reader->skipped += lost;
		consume(reader, lane, lost);
	}
	return 0;
}

/* The lane whose record goes next; NULL: all that is marked has been read, or one is waited for. */
static int choose(struct ring_reader *reader, uint64_t now_ns, uint64_t patience_ns, struct ring_lane **out_lane)
{
	struct ring_lane *next = NULL;
	bool has_marked = false, must_wait = false;
	for (struct ring_lane *lane = reader->lane; lane < reader->lane + reader->count; lane++) {
		if (!lane->first && lane->tail < lane->limit) {
			const int ready = look(reader, lane, now_ns, patience_ns);
			if (ready < 0)
				return ready;
			must_wait |= !ready && lane->tail < lane->limit;
		}
		has_marked |= lane->tail < lane->mark;
		if (lane->first && (!next || lane->cycles < next->cycles))
			next = lane;
	}
	*out_lane = has_marked && !must_wait ? next : NULL;
	return 0;
}

static void take(struct ring_reader *reader, struct ring_lane *lane, union ring_record *out_record)
{
	const uint64_t size = lane->first & UINT32_MAX;
	out_record->word[0] = lane->first; /* what was checked, not what may have been written since */
	for (uint64_t done = sizeof(uint64_t); done < size; done += sizeof(uint64_t))
		out_record->word[done / 8] = __atomic_load_n(word_at(reader, lane, lane->tail + done), __ATOMIC_RELAXED);
	consume(reader, lane, size);
}

static int next(struct ring_reader *reader, uint64_t now_ns, uint64_t patience_ns, union ring_record *out_record)
{
	if (reader->is_damaged)
		return -EPROTO;
	for (;;) {
		struct ring_lane *lane;
		const int err = choose(reader, now_ns, patience_ns, &lane);
		if (err || !lane)
			return err;
		take(reader, lane, out_record);
		const uint32_t size = out_record->header.size, type = out_record->header.type_busy;
		if (is_valid(out_record, size)) {
			reader->allocs += type == HI_RECORD_ALLOC || type == HI_RECORD_KNOWN;
			reader->frees += type == HI_RECORD_FREE;
			return 1;
		}
		reader->skipped += size;
	}
}

int ring_reader_next(struct ring_reader *reader, uint64_t now_ns, uint64_t patience_ns, union ring_record *out_record)
{
	const int more = next(reader, now_ns, patience_ns, out_record);
	if (more <= 0)
		ring_reader_release(reader);
	return more;
}
