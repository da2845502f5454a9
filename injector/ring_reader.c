/* SPDX-License-Identifier: MIT */
/* ring_reader.c - see ring_reader.h, and "ring" in hi_wire.h for the protocol. */
#include "ring_reader.h"

#include <errno.h>
#include <stdbool.h>

#define TOLD_BYTES_MAX 4096u /* consumed at most before the producers are given the room, */
#define TOLD_SHARE 64u       /* or this part of the ring */

void ring_reader_open(struct ring_reader *reader, struct hi_ring *ring, uint64_t capacity)
{
	*reader = (struct ring_reader){.ring = ring, .capacity = capacity, .limit = UINT64_MAX};
}

/* More than a ring full cannot be in it, whatever the head says. */
void ring_reader_mark(struct ring_reader *reader)
{
	const uint64_t head = __atomic_load_n(&reader->ring->head, __ATOMIC_ACQUIRE);
	ring_reader_unmark(reader);
	if (head - reader->tail < reader->capacity)
		reader->limit = head;
}

void ring_reader_unmark(struct ring_reader *reader)
{
	reader->limit = reader->tail + reader->capacity;
}

static uint64_t *word_at(const struct ring_reader *reader, uint64_t position)
{
	return (uint64_t *)(void *)(reader->ring->data + (position & (reader->capacity - 1)));
}

void ring_reader_release(struct ring_reader *reader)
{
	if (reader->told == reader->tail)
		return;
	reader->told = reader->tail;
	__atomic_store_n(&reader->ring->tail, reader->tail, __ATOMIC_RELEASE);
}

/* Zero what was consumed, then let producers have it: a reserved record must read zero until its producer begins it. */
static void consume(struct ring_reader *reader, uint64_t size)
{
	const uint64_t share = reader->capacity / TOLD_SHARE;
	for (uint64_t done = 0; done < size; done += sizeof(uint64_t))
		__atomic_store_n(word_at(reader, reader->tail + done), 0, __ATOMIC_RELAXED);
	reader->tail += size;
	if (reader->tail - reader->told >= (share < TOLD_BYTES_MAX ? share : TOLD_BYTES_MAX))
		ring_reader_release(reader);
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
static uint64_t unfinished_bytes(const struct ring_reader *reader, uint64_t first, uint64_t available)
{
	const uint64_t size = first & UINT32_MAX;
	if (first)
		return is_size(size) && size <= available ? size : HI_RING_UNIT;
	uint64_t bytes = HI_RING_UNIT;
	while (bytes < available && !__atomic_load_n(word_at(reader, reader->tail + bytes), __ATOMIC_ACQUIRE))
		bytes += HI_RING_UNIT;
	return bytes;
}

/* True once the record at tail was reserved at least patience_ns ago, for all we know. Those behind it that are unfinished, too, are not waited for anew, one after the other. */
static bool has_stalled(struct ring_reader *reader, uint64_t available, uint64_t now_ns, uint64_t patience_ns)
{
	if (!reader->waited_ns || reader->tail >= reader->waited_for) {
		reader->waited_for = reader->tail + available;
		reader->waited_ns = now_ns ? now_ns : 1;
	}
	return now_ns - reader->waited_ns >= patience_ns;
}

static void count(struct ring_reader *reader, uint32_t type)
{
	reader->allocs += type == HI_RECORD_ALLOC || type == HI_RECORD_KNOWN;
	reader->frees += type == HI_RECORD_FREE;
}

/* What is known to be reserved from tail on, in bytes; -EPROTO. */
static int64_t find_available(struct ring_reader *reader)
{
	if (reader->head == reader->tail)
		reader->head = __atomic_load_n(&reader->ring->head, __ATOMIC_ACQUIRE);
	const uint64_t available = reader->head - reader->tail;
	return available > reader->capacity || available % HI_RING_UNIT ? -EPROTO : (int64_t)available;
}

static int next(struct ring_reader *reader, uint64_t now_ns, uint64_t patience_ns, union ring_record *out_record)
{
	for (;;) {
		const int64_t available = find_available(reader);
		if (available <= 0 || reader->tail >= reader->limit)
			return available < 0 ? -EPROTO : 0;
		const uint64_t first = __atomic_load_n(word_at(reader, reader->tail), __ATOMIC_ACQUIRE);
		const uint64_t size = first & UINT32_MAX;
		if (!first || (first & HI_RING_BUSY)) {
			if (!has_stalled(reader, (uint64_t)available, now_ns, patience_ns))
				return 0;
			const uint64_t lost = unfinished_bytes(reader, first, (uint64_t)available);
			reader->skipped += lost;
			consume(reader, lost);
			continue;
		}
		if (!is_size(size) || size > (uint64_t)available)
			return -EPROTO;
		for (uint64_t done = 0; done < size; done += sizeof(uint64_t))
			out_record->word[done / 8] = __atomic_load_n(word_at(reader, reader->tail + done), __ATOMIC_RELAXED);
		out_record->word[0] = first; /* what was checked, not what may have been written since */
		consume(reader, size);
		if (is_valid(out_record, size)) {
			count(reader, out_record->header.type_busy);
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
