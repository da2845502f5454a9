/* SPDX-License-Identifier: MIT */
/*
 * ring_reader: finished records in order, over all rings; unfinished ones only after their time,
 * nothing believed. The producers' side is in payload_ring_test.c.
 */
#include "ring_reader.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ring_next.h"
#include "unit.h"

#define CAPACITY 4096u
#define PATIENCE 1000u
#define SETTLED 2000000u /* how long a mark must stand */

/* The first of so many. */
static struct hi_ring *new_rings(struct ring_reader *reader, uint32_t count)
{
	/* until the next one, or the end of the case, which is a process */
	static struct hi_ring *first;

	free(first);
	first = calloc(count, sizeof(*first) + CAPACITY);
	for (uint32_t i = 0; i < count; i++)
		hi_ring_at(first, CAPACITY, i)->capacity = CAPACITY;
	ring_reader_open(reader, &(struct rings){first, CAPACITY, count});
	return first;
}

static struct hi_ring *new_ring(struct ring_reader *reader)
{
	return new_rings(reader, 1);
}

static void put(struct hi_ring *ring, const void *record, size_t size)
{
	for (size_t done = 0; done < size; done += 8)
		memcpy(ring->data + (ring->head + done) % CAPACITY, (const uint8_t *)record + done,
		       8);
	ring->head += size;
}

static void put_free_at(struct hi_ring *ring, uint64_t cycles, uint64_t address)
{
	const struct hi_record_free record = {
		.header = {.size = sizeof(record), .type_busy = HI_RECORD_FREE, .cycles = cycles},
		.address = address};
	put(ring, &record, sizeof(record));
}

static void put_free(struct hi_ring *ring, uint64_t address)
{
	put_free_at(ring, 0, address);
}

/* Of all that is there now. */
static int next(struct ring_reader *reader, uint64_t now_ns, uint64_t patience_ns,
		union ring_record *out_record)
{
	ring_reader_mark(reader);
	return ring_reader_next(reader, now_ns, patience_ns, out_record);
}

static void expect(struct ring_reader *reader, uint64_t address)
{
	union ring_record record;
	CHECK_EQ(ring_reader_next(reader, 1, PATIENCE, &record), 1);
	CHECK_EQ(record.free.address, address);
}

static void expect_nothing(struct ring_reader *reader)
{
	union ring_record record;
	CHECK_EQ(ring_reader_next(reader, 1, PATIENCE, &record), 0);
}

UNIT_TEST(takes_records_in_order_and_clears_them)
{
	struct ring_reader reader;
	union ring_record record;
	struct hi_ring *ring = new_ring(&reader);
	for (uint64_t round = 0; round < 1000; round++) { /* several times around */
		put_free(ring, round * 2 + 1);
		put_free(ring, round * 2 + 2);
		CHECK_EQ(next(&reader, 1, PATIENCE, &record), 1);
		CHECK_EQ(record.free.address, round * 2 + 1);
		CHECK_EQ(next(&reader, 1, PATIENCE, &record), 1);
		CHECK_EQ(record.free.address, round * 2 + 2);
		CHECK_EQ(next(&reader, 1, PATIENCE, &record), 0);
	}
	CHECK_EQ(ring->tail, ring->head);
	for (size_t i = 0; i < CAPACITY; i++)
		CHECK_EQ(ring->data[i], 0);
}

/*
 * How much has been consumed is told seldom, for each time costs a producer a cache line; but it is
 * published in the end, whatever the end is.
 */
UNIT_TEST(gives_room_back_in_batches_and_always_at_the_end)
{
	struct ring_reader reader;
	union ring_record record;
	struct hi_ring *ring = new_ring(&reader);
	unsigned published = 0;
	for (uint64_t i = 0; i < 64; i++)
		put_free(ring, i + 1);
	for (uint64_t i = 0, tail = 0; i < 64; i++) {
		CHECK_EQ(next(&reader, 1, PATIENCE, &record), 1);
		/* and never late by much */
		CHECK(reader.lane[0].tail - ring->tail < CAPACITY / 32);
		published += ring->tail != tail;
		tail = ring->tail;
	}
	CHECK(published > 1 && published <= 32);
	CHECK_EQ(reader.allocs, 0);
	CHECK_EQ(reader.frees, 64);
	put_free(ring, 1);
	CHECK_EQ(next(&reader, 1, PATIENCE, &record), 1);
	CHECK_EQ(next(&reader, 1, PATIENCE, &record), 0); /* nothing more */
	CHECK_EQ(ring->tail, ring->head);
	put_free(ring, 1);
	ring->head += HI_RING_UNIT;
	CHECK_EQ(next(&reader, 1, PATIENCE, &record), 1);
	CHECK_EQ(next(&reader, 1, PATIENCE, &record), 0); /* nothing finished */
	CHECK_EQ(ring->tail, ring->head - HI_RING_UNIT);
	ring->head -= HI_RING_UNIT;
	put_free(ring, 1);
	CHECK_EQ(next(&reader, 1, PATIENCE, &record), 1);
	CHECK(ring->tail != ring->head);
	ring_reader_release(&reader); /* a reader that stops by itself */
	CHECK_EQ(ring->tail, ring->head);
	put_free(ring, 1);
	CHECK_EQ(next(&reader, 1, PATIENCE, &record), 1);
	ring->head += CAPACITY + HI_RING_UNIT;
	CHECK_EQ(next(&reader, 1, PATIENCE, &record), -EPROTO);
	CHECK_EQ(ring->tail, reader.lane[0].tail);
}

UNIT_TEST(reads_an_alloc_record_that_wraps)
{
	struct ring_reader reader;
	union ring_record record, got;
	struct hi_ring *ring = new_ring(&reader);
	ring->head = ring->tail = reader.lane[0].published = reader.lane[0].tail =
		CAPACITY - HI_RING_UNIT;
	memset(&record, 0, sizeof(record));
	record.alloc =
		(struct hi_record_alloc){.header = {.size = 96, .type_busy = HI_RECORD_ALLOC},
					 .address = 0x1000,
					 .bytes = 77,
					 .frame_count = 5};
	for (unsigned i = 0; i < 5; i++)
		record.word[7 + i] = 100 + i;
	put(ring, &record, 96);
	CHECK_EQ(next(&reader, 1, PATIENCE, &got), 1);
	CHECK_EQ(got.alloc.bytes, 77);
	CHECK_EQ(got.alloc.frame[4], 104);
}

UNIT_TEST(waits_for_an_unfinished_record_then_skips_it)
{
	struct ring_reader reader;
	union ring_record record;
	struct hi_ring *ring = new_ring(&reader);
	const struct hi_record_free busy = {
		.header = {.size = sizeof(busy),
			   .type_busy = HI_RECORD_FREE | (uint32_t)(HI_RING_BUSY >> 32)}};
	put(ring, &busy, sizeof(busy));
	ring->head += 3 * HI_RING_UNIT; /* reserved by somebody who died before the first word */
	put_free(ring, 42);
	CHECK_EQ(next(&reader, 5000, PATIENCE, &record), 0);
	CHECK_EQ(next(&reader, 5000 + PATIENCE - 1, PATIENCE, &record), 0);
	ring->head += HI_RING_UNIT;                                     /* and one more, now */
	CHECK_EQ(next(&reader, 5000 + PATIENCE, PATIENCE, &record), 0); /* now marked */
	uint64_t *const first = (void *)ring->data;
	CHECK_EQ(*first,
		 (sizeof(busy) | (uint64_t)HI_RECORD_FREE << 32 | HI_RING_BUSY | HI_RING_GIVEN_UP));
	CHECK_EQ(next(&reader, 5000 + PATIENCE + SETTLED - 1, PATIENCE, &record), 0);
	CHECK_EQ(reader.skipped, 0);
	/* both were waited for at the same time */
	CHECK_EQ(next(&reader, 5000 + PATIENCE + SETTLED, PATIENCE, &record), 1);
	CHECK_EQ(record.free.address, 42);
	CHECK_EQ(reader.skipped, 4 * HI_RING_UNIT);
	put_free(ring, 43);
	CHECK_EQ(next(&reader, 6000 + PATIENCE + SETTLED, PATIENCE, &record), 0);
	CHECK_EQ(next(&reader, 6000 + 2 * PATIENCE + SETTLED, PATIENCE, &record), 1);
	CHECK_EQ(record.free.address, 43);
	CHECK_EQ(reader.skipped, 5 * HI_RING_UNIT);
}

/* Its producer had read the word before the reader marked it, and writes after that. */
UNIT_TEST(takes_a_record_that_is_committed_over_the_mark)
{
	struct ring_reader reader;
	union ring_record record;
	struct hi_ring *ring = new_ring(&reader);
	const struct hi_record_free busy = {
		.header = {.size = sizeof(busy),
			   .type_busy = HI_RECORD_FREE | (uint32_t)(HI_RING_BUSY >> 32)},
		.address = 44};
	uint64_t *const first = (void *)ring->data;
	put(ring, &busy, sizeof(busy));
	CHECK_EQ(next(&reader, 5000, PATIENCE, &record), 0);
	CHECK_EQ(next(&reader, 5000 + PATIENCE, PATIENCE, &record), 0);
	CHECK(*first & HI_RING_GIVEN_UP);
	*first = sizeof(busy) | (uint64_t)HI_RECORD_FREE << 32;
	CHECK_EQ(next(&reader, 5000 + PATIENCE + 1, PATIENCE, &record), 1);
	CHECK_EQ(record.free.address, 44);
	CHECK_EQ(reader.skipped, 0);
	CHECK_EQ(*first, 0);
}

UNIT_TEST(gives_up_at_once_when_nobody_writes_any_more)
{
	struct ring_reader reader;
	union ring_record record;
	struct hi_ring *ring = new_ring(&reader);
	ring->head += HI_RING_UNIT;
	put_free(ring, 7);
	CHECK_EQ(next(&reader, 1, 0, &record), 1);
	CHECK_EQ(record.free.address, 7);
}

UNIT_TEST(reads_what_was_there_at_the_mark_and_no_more)
{
	struct ring_reader reader;
	struct hi_ring *ring = new_ring(&reader);
	put_free(ring, 1);
	expect_nothing(&reader); /* before the first */
	ring_reader_mark(&reader);
	put_free(ring, 2);
	expect(&reader, 1);
	expect_nothing(&reader);
	ring_reader_mark(&reader);
	/* a target that writes as fast as it is read */
	for (uint64_t i = 3; reader.lane[0].tail < reader.lane[0].mark; i++) {
		CHECK(i < 5);
		put_free(ring, i);
		expect(&reader, i - 1);
	}
	expect_nothing(&reader);
}

UNIT_TEST(takes_records_of_all_rings_in_the_order_of_their_times)
{
	enum { RINGS = 4, RECORDS = 1000 };
	struct ring_reader reader;
	struct hi_ring *first = new_rings(&reader, RINGS);
	for (uint64_t i = 0, put_so_far = 0; i < RECORDS; i++) {
		for (; put_so_far < i + 40; put_so_far++)
			put_free_at(hi_ring_at(first, CAPACITY, put_so_far * 7919 % 31 % RINGS),
				    1000 + put_so_far, put_so_far + 1);
		if (i % 10 == 0)
			ring_reader_mark(&reader);
		expect(&reader, i + 1);
	}
	/*
	 * What was reserved later may have happened before, and was then held up by what lay ahead
	 * of it.
	 */
	struct hi_ring *other = hi_ring_at(first = new_rings(&reader, 2), CAPACITY, 1);
	put_free_at(first, 20, 2);
	put_free_at(first, 5, 3);
	put_free_at(other, 10, 1);
	put_free_at(other, 30, 4);
	ring_reader_mark(&reader);
	for (uint64_t address = 1; address <= 4; address++)
		expect(&reader, address);
	expect_nothing(&reader);
}

/* B was reserved before the marks, A before B, but in a ring whose head had been noted by then. */
UNIT_TEST(goes_past_a_mark_where_the_order_asks_for_it)
{
	enum { A = 1, B, C, D };
	struct ring_reader reader;
	struct hi_ring *first = new_rings(&reader, 2), *other = hi_ring_at(first, CAPACITY, 1);
	put_free_at(other, 20, B);
	ring_reader_mark(&reader);
	put_free_at(first, 10, A);
	put_free_at(first, 30, C);
	/* what the mark would have found, had these come in its midst */
	reader.lane[0].limit = first->head;
	put_free_at(other, 5, D);
	expect(&reader, A);
	expect(&reader, B);
	expect_nothing(&reader);
	ring_reader_mark(&reader);
	expect(&reader, D);
	expect(&reader, C);
	expect_nothing(&reader);
}

/*
 * The same records, put between the marks and the limits as well, and one in a batch that is not
 * whole.
 */
static void fill_rings(struct hi_ring *first, struct ring_reader *reader)
{
	enum { RINGS = 3, MARKED = 60, LATER = 12 };
	uint64_t random = 7;
	for (uint64_t i = 1; i <= MARKED + LATER; i++) {
		if (i == MARKED + 1)
			ring_reader_mark(reader);
		random = random * 6364136223846793005u + 1442695040888963407u;
		put_free_at(hi_ring_at(first, CAPACITY, (random >> 40) % RINGS),
			    i == MARKED ? 1000 : i, i);
	}
	for (uint32_t i = 0; i < RINGS; i++)
		reader->lane[i].limit = hi_ring_at(first, CAPACITY, i)->head;
}

UNIT_TEST(a_batch_is_what_comes_one_by_one)
{
	struct ring_batch batch = {.enough = RING_BATCH_BYTES};
	struct ring_reader reader;
	union ring_record record;
	uint64_t expected[100];
	size_t count = 0, got = 0;
	fill_rings(new_rings(&reader, 3), &reader);
	while (ring_reader_next(&reader, 1, PATIENCE, &record) == 1)
		expected[count++] = record.free.address;
	CHECK(count >= 60);
	fill_rings(new_rings(&reader, 3), &reader);
	CHECK_EQ(ring_reader_read(&reader, 1, PATIENCE, &batch), 1);
	for (const union ring_record *next_one; (next_one = ring_batch_next(&batch)); got++)
		CHECK_EQ(next_one->free.address, expected[got]);
	CHECK_EQ(got, count);
	CHECK_EQ(ring_reader_read(&reader, 1, PATIENCE, &batch), 0);
	CHECK(!ring_batch_next(&batch));
}

/* Past the mark only where the order asks for it, however much there is. */
UNIT_TEST(a_batch_ends_at_the_mark)
{
	struct ring_batch batch = {.enough = RING_BATCH_BYTES};
	struct ring_reader reader;
	struct hi_ring *ring = new_ring(&reader);
	put_free(ring, 1);
	put_free(ring, 2);
	ring_reader_mark(&reader);
	put_free(ring, 3);
	reader.lane[0].limit = ring->head;
	CHECK_EQ(ring_reader_read(&reader, 1, PATIENCE, &batch), 1);
	CHECK_EQ(batch.size, 2 * HI_RING_UNIT);
}

/* ---- what happens in the midst of a mark ----------------------------------------------------- */

static struct hi_ring *busy_rings;

/* The head of the first ring has been noted, that of the second is looked at now. */
static void put_two(int signal)
{
	struct hi_ring *second = hi_ring_at(busy_rings, CAPACITY, 1);

	(void)signal;
	mprotect((uint8_t *)busy_rings + HI_PAGE_BYTES, HI_PAGE_BYTES, PROT_READ | PROT_WRITE);
	put_free_at(busy_rings, 10, 1);
	put_free_at(second, 20, 2);
}

UNIT_TEST(a_mark_leaves_out_nothing_that_what_it_lets_in_follows_from)
{
	struct ring_reader reader;
	busy_rings = mmap(NULL, (size_t)4 * HI_PAGE_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(busy_rings != MAP_FAILED);
	ring_reader_open(&reader, &(struct rings){busy_rings, CAPACITY, 2});
	CHECK_EQ(mprotect((uint8_t *)busy_rings + HI_PAGE_BYTES, HI_PAGE_BYTES, PROT_NONE), 0);
	signal(SIGSEGV, put_two);
	ring_reader_mark(&reader);
	signal(SIGSEGV, SIG_DFL);
	expect(&reader, 1);
	expect(&reader, 2);
	expect_nothing(&reader);
}

UNIT_TEST(an_unfinished_record_in_one_ring_holds_up_all)
{
	struct ring_reader reader;
	union ring_record record;
	struct hi_ring *first = new_rings(&reader, 3), *second = hi_ring_at(first, CAPACITY, 1),
		       *third = hi_ring_at(first, CAPACITY, 2);
	struct hi_record_free busy = {
		.header = {.size = sizeof(busy), .type_busy = HI_RECORD_FREE, .cycles = 10},
		.address = 1};
	uint64_t *begun = (uint64_t *)(void *)second->data;
	put(second, &busy, sizeof(busy));
	*begun |= HI_RING_BUSY;
	put_free_at(second, 30, 3);
	put_free_at(first, 20, 2);
	put_free_at(third, 40, 4);
	ring_reader_mark(&reader);
	expect_nothing(&reader);
	expect_nothing(&reader);
	*begun &= ~HI_RING_BUSY; /* committed */
	for (uint64_t address = 1; address <= 4; address++)
		expect(&reader, address);
	expect_nothing(&reader);

	second->head += HI_RING_UNIT; /* and one that never will be */
	put_free_at(first, 50, 5);
	CHECK_EQ(next(&reader, 5000, PATIENCE, &record), 0);
	CHECK_EQ(next(&reader, 5000 + PATIENCE - 1, PATIENCE, &record), 0);
	CHECK_EQ(next(&reader, 5000 + PATIENCE, PATIENCE, &record), 1);
	CHECK_EQ(record.free.address, 5);
	CHECK_EQ(reader.skipped, HI_RING_UNIT);
	expect_nothing(&reader);
	CHECK_EQ(second->tail, second->head);
}

UNIT_TEST(refuses_a_ring_that_was_scribbled_over)
{
	union ring_record record;
	struct ring_reader reader;
	struct hi_ring *ring = new_ring(&reader);
	ring->head = CAPACITY + HI_RING_UNIT;
	CHECK_EQ(next(&reader, 1, PATIENCE, &record), -EPROTO);
	ring->head = HI_RING_UNIT / 2;
	CHECK_EQ(next(&reader, 1, PATIENCE, &record), -EPROTO);
	ring = new_rings(&reader, 2);
	put_free(ring, 1);
	hi_ring_at(ring, CAPACITY, 1)->head = UINT64_MAX - HI_RING_UNIT + 1; /* behind its tail */
	CHECK_EQ(next(&reader, 1, PATIENCE, &record), -EPROTO);
	const uint32_t sizes[] = {1, 31, 33, HI_RING_SIZE_MAX + HI_RING_UNIT, UINT32_MAX};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		ring = new_ring(&reader);
		const struct hi_record_header bad = {.size = sizes[i], .type_busy = HI_RECORD_FREE};
		memcpy(ring->data, &bad, sizeof(bad));
		ring->head = 4 * HI_RING_UNIT;
		CHECK_EQ(next(&reader, 1, PATIENCE, &record), -EPROTO);
	}
}

UNIT_TEST(drops_records_whose_contents_do_not_fit_their_size)
{
	struct ring_reader reader;
	union ring_record record;
	struct hi_ring *ring = new_ring(&reader);
	union ring_record bad;
	memset(&bad, 0, sizeof(bad));
	/* room for two */
	bad.alloc = (struct hi_record_alloc){.header = {.size = 64, .type_busy = HI_RECORD_ALLOC},
					     .frame_count = 3};
	put(ring, &bad, 64);
	bad.alloc.frame_count = 0;
	put(ring, &bad, 64);
	bad.header.type_busy = 99;
	put(ring, &bad, 64);
	put_free(ring, 9);
	CHECK_EQ(next(&reader, 1, PATIENCE, &record), 1);
	CHECK_EQ(record.free.address, 9);
	CHECK_EQ(reader.skipped, 3 * 64);
}

UNIT_MAIN()
