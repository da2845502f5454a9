/* SPDX-License-Identifier: MIT */
/* ring_reader: finished records in order, unfinished ones only after their time, nothing believed. The producers' side is in payload_ring_test.c. */
#include "injector/ring_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define CAPACITY 4096u
#define PATIENCE 1000u

static struct hi_ring *new_ring(struct ring_reader *reader)
{
	static struct hi_ring *ring; /* until the next one, or the end of the case, which is a process */

	free(ring);
	ring = calloc(1, sizeof *ring + CAPACITY);
	ring->capacity = CAPACITY;
	ring_reader_open(reader, ring, CAPACITY);
	return ring;
}

static void put(struct hi_ring *ring, const void *record, size_t size)
{
	for (size_t done = 0; done < size; done += 8)
		memcpy(ring->data + (ring->head + done) % CAPACITY, (const uint8_t *)record + done, 8);
	ring->head += size;
}

static void put_free(struct hi_ring *ring, uint64_t address)
{
	const struct hi_record_free record = {.header = {.size = sizeof record, .type_busy = HI_RECORD_FREE}, .address = address};
	put(ring, &record, sizeof record);
}

UNIT_TEST(takes_records_in_order_and_clears_them)
{
	struct ring_reader reader;
	union ring_record record;
	struct hi_ring *ring = new_ring(&reader);
	for (uint64_t round = 0; round < 1000; round++) { /* several times around */
		put_free(ring, round * 2 + 1);
		put_free(ring, round * 2 + 2);
		CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), 1);
		CHECK_EQ(record.free.address, round * 2 + 1);
		CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), 1);
		CHECK_EQ(record.free.address, round * 2 + 2);
		CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), 0);
	}
	CHECK_EQ(ring->tail, ring->head);
	for (size_t i = 0; i < CAPACITY; i++)
		CHECK_EQ(ring->data[i], 0);
}

/* How much has been consumed is told seldom, for each time costs a producer a cache line; but it is told in the end, whatever the end is. */
UNIT_TEST(gives_room_back_in_batches_and_always_at_the_end)
{
	struct ring_reader reader;
	union ring_record record;
	struct hi_ring *ring = new_ring(&reader);
	unsigned told = 0;
	for (uint64_t i = 0; i < 64; i++)
		put_free(ring, i + 1);
	for (uint64_t i = 0, tail = 0; i < 64; i++) {
		CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), 1);
		CHECK(reader.tail - ring->tail < CAPACITY / 32); /* and never late by much */
		told += ring->tail != tail;
		tail = ring->tail;
	}
	CHECK(told > 1 && told <= 32);
	CHECK_EQ(reader.allocs, 0);
	CHECK_EQ(reader.frees, 64);
	put_free(ring, 1);
	CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), 1);
	CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), 0); /* nothing more */
	CHECK_EQ(ring->tail, ring->head);
	put_free(ring, 1);
	ring->head += HI_RING_UNIT;
	CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), 1);
	CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), 0); /* nothing finished */
	CHECK_EQ(ring->tail, ring->head - HI_RING_UNIT);
	ring->head -= HI_RING_UNIT;
	put_free(ring, 1);
	CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), 1);
	CHECK(ring->tail != ring->head);
	ring_reader_release(&reader); /* a reader that stops by itself */
	CHECK_EQ(ring->tail, ring->head);
	put_free(ring, 1);
	CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), 1);
	ring->head += CAPACITY + HI_RING_UNIT;
	CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), -EPROTO);
	CHECK_EQ(ring->tail, reader.tail);
}

UNIT_TEST(reads_an_alloc_record_that_wraps)
{
	struct ring_reader reader;
	union ring_record record, got;
	struct hi_ring *ring = new_ring(&reader);
	ring->head = ring->tail = reader.head = reader.told = reader.tail = CAPACITY - HI_RING_UNIT;
	memset(&record, 0, sizeof record);
	record.alloc = (struct hi_record_alloc){.header = {.size = 96, .type_busy = HI_RECORD_ALLOC}, .address = 0x1000, .bytes = 77, .frame_count = 5};
	for (unsigned i = 0; i < 5; i++)
		record.word[7 + i] = 100 + i;
	put(ring, &record, 96);
	CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &got), 1);
	CHECK_EQ(got.alloc.bytes, 77);
	CHECK_EQ(got.alloc.frame[4], 104);
}

UNIT_TEST(waits_for_an_unfinished_record_then_skips_it)
{
	struct ring_reader reader;
	union ring_record record;
	struct hi_ring *ring = new_ring(&reader);
	const struct hi_record_free busy = {.header = {.size = sizeof busy, .type_busy = HI_RECORD_FREE | (uint32_t)(HI_RING_BUSY >> 32)}};
	put(ring, &busy, sizeof busy);
	ring->head += 3 * HI_RING_UNIT; /* reserved by somebody who died before the first word */
	put_free(ring, 42);
	CHECK_EQ(ring_reader_next(&reader, 5000, PATIENCE, &record), 0);
	CHECK_EQ(ring_reader_next(&reader, 5000 + PATIENCE - 1, PATIENCE, &record), 0);
	ring->head += HI_RING_UNIT;                                                 /* and one more, now */
	CHECK_EQ(ring_reader_next(&reader, 5000 + PATIENCE, PATIENCE, &record), 1); /* both were waited for at the same time */
	CHECK_EQ(record.free.address, 42);
	CHECK_EQ(reader.skipped, 4 * HI_RING_UNIT);
	put_free(ring, 43);
	CHECK_EQ(ring_reader_next(&reader, 6000 + PATIENCE, PATIENCE, &record), 0);
	CHECK_EQ(ring_reader_next(&reader, 6000 + 2 * PATIENCE, PATIENCE, &record), 1);
	CHECK_EQ(record.free.address, 43);
	CHECK_EQ(reader.skipped, 5 * HI_RING_UNIT);
}

UNIT_TEST(gives_up_at_once_when_nobody_writes_any_more)
{
	struct ring_reader reader;
	union ring_record record;
	struct hi_ring *ring = new_ring(&reader);
	ring->head += HI_RING_UNIT;
	put_free(ring, 7);
	CHECK_EQ(ring_reader_next(&reader, 1, 0, &record), 1);
	CHECK_EQ(record.free.address, 7);
}

UNIT_TEST(reads_at_most_a_ring_full_whatever_the_head_says)
{
	struct ring_reader reader;
	union ring_record record;
	struct hi_ring *ring = new_ring(&reader);
	uint64_t records = 0;
	ring->head = UINT64_MAX / 2;
	ring_reader_mark(&reader);
	ring->head = 0;
	do { /* a target that writes as fast as it is read */
		put_free(ring, ++records);
	} while (ring_reader_next(&reader, 1, PATIENCE, &record) == 1 && records <= CAPACITY);
	CHECK_EQ(records, CAPACITY / HI_RING_UNIT + 1);
	ring_reader_unmark(&reader);
	CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), 1);
	CHECK_EQ(reader.limit, reader.tail - HI_RING_UNIT + CAPACITY);
}

UNIT_TEST(leaves_what_comes_after_the_mark)
{
	struct ring_reader reader;
	union ring_record record;
	struct hi_ring *ring = new_ring(&reader);
	put_free(ring, 1);
	ring_reader_mark(&reader);
	put_free(ring, 2);
	CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), 1);
	CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), 0);
	ring_reader_unmark(&reader);
	CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), 1);
	CHECK_EQ(record.free.address, 2);
}

UNIT_TEST(refuses_a_ring_that_was_scribbled_over)
{
	union ring_record record;
	struct ring_reader reader;
	struct hi_ring *ring = new_ring(&reader);
	ring->head = CAPACITY + HI_RING_UNIT;
	CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), -EPROTO);
	ring->head = HI_RING_UNIT / 2;
	CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), -EPROTO);
	const uint32_t sizes[] = {1, 31, 33, HI_RING_SIZE_MAX + HI_RING_UNIT, UINT32_MAX};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		ring = new_ring(&reader);
		const struct hi_record_header bad = {.size = sizes[i], .type_busy = HI_RECORD_FREE};
		memcpy(ring->data, &bad, sizeof bad);
		ring->head = 4 * HI_RING_UNIT;
		CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), -EPROTO);
	}
}

UNIT_TEST(drops_records_whose_contents_do_not_fit_their_size)
{
	struct ring_reader reader;
	union ring_record record;
	struct hi_ring *ring = new_ring(&reader);
	union ring_record bad;
	memset(&bad, 0, sizeof bad);
	bad.alloc = (struct hi_record_alloc){.header = {.size = 64, .type_busy = HI_RECORD_ALLOC}, .frame_count = 3}; /* room for two */
	put(ring, &bad, 64);
	bad.alloc.frame_count = 0;
	put(ring, &bad, 64);
	bad.header.type_busy = 99;
	put(ring, &bad, 64);
	put_free(ring, 9);
	CHECK_EQ(ring_reader_next(&reader, 1, PATIENCE, &record), 1);
	CHECK_EQ(record.free.address, 9);
	CHECK_EQ(reader.skipped, 3 * 64);
}

UNIT_MAIN()
