/* SPDX-License-Identifier: MIT */
/* payload_ring_test.c - the producer's side of the ring against the reader of payload_arena.h. */
#include <pthread.h>
#include <sched.h>

#include "payload_arena.h"
#include "ring.h"

enum { CAPACITY = 4096, PRODUCERS = 4, RECORDS = 10000 };

static enum ring_outcome put_free(struct arena *arena, uint64_t address, enum ring_class class)
{
	struct hi_record_free record = {.header.type_busy = HI_RECORD_FREE, .address = address};

	return ring_put(arena->state, &record.header, sizeof(record), class);
}

UNIT_TEST(ordinary_records_leave_a_quarter_for_vital_ones)
{
	struct arena arena = arena_open(1, 4, CAPACITY);
	unsigned ordinary = 0, vital = 0;

	while (put_free(&arena, 1, RING_ORDINARY) == RING_COMMITTED)
		ordinary++;
	while (put_free(&arena, 1, RING_VITAL) == RING_COMMITTED)
		vital++;
	CHECK_EQ(ordinary, CAPACITY / HI_RING_UNIT * 3 / 4);
	CHECK_EQ(vital, CAPACITY / HI_RING_UNIT / 4);
	CHECK_EQ(put_free(&arena, 1, RING_VITAL), RING_FULL);
	arena_drain(&arena);
	CHECK_EQ(arena.record_count[HI_RECORD_FREE], ordinary + vital);
	CHECK_EQ(put_free(&arena, 1, RING_ORDINARY), RING_COMMITTED);
}

/* Alloc-like records of changing length, each word derived from the producer and its serial number. */
static uint64_t word_of(uint64_t producer, uint64_t serial, uint64_t index)
{
	return (producer << 56 | serial << 16 | index) * 0x9e3779b97f4a7c15ull;
}

struct producer {
	struct arena *arena;
	uint64_t number;
	pthread_t id;
};

static void *produce(void *argument)
{
	struct producer *producer = argument;
	uint64_t words[HI_RING_SIZE_MAX / 8];

	for (uint64_t serial = 0; serial < RECORDS; serial++) {
		struct hi_record_header *header = (void *)words;
		uint32_t bytes = 32 + 8 * (uint32_t)(serial % 50);

		header->type_busy = HI_RECORD_ALLOC;
		header->cycles = serial;
		header->thread = producer->number;
		for (uint32_t i = 3; i < bytes / 8; i++)
			words[i] = word_of(producer->number, serial, i);
		while (ring_put(producer->arena->state, header, bytes, RING_ORDINARY) == RING_FULL)
			sched_yield();
	}
	return NULL;
}

UNIT_TEST(many_producers_one_reader)
{
	struct arena arena = arena_open(1, 4, 4 * CAPACITY);
	struct producer producer[PRODUCERS];
	uint64_t next[PRODUCERS] = {0}, record[HI_RING_SIZE_MAX / 8];
	bool is_done = false;

	for (unsigned i = 0; i < PRODUCERS; i++) {
		producer[i] = (struct producer){.arena = &arena, .number = i};
		CHECK_EQ(pthread_create(&producer[i].id, NULL, produce, &producer[i]), 0);
	}
	for (unsigned joined = 0; !is_done;) {
		is_done = joined == PRODUCERS;
		while (arena_take(&arena, record)) {
			const struct hi_record_header *header = (void *)record;
			uint64_t serial = header->cycles, from = header->thread, bytes = 32 + 8 * (serial % 50);

			CHECK(from < PRODUCERS && serial == next[from]);
			CHECK_EQ(header->size, (bytes + HI_RING_UNIT - 1) / HI_RING_UNIT * HI_RING_UNIT);
			for (uint64_t i = 3; i < bytes / 8; i++)
				CHECK_EQ(record[i], word_of(from, serial, i));
			next[from]++;
		}
		sched_yield();
		if (joined < PRODUCERS && pthread_tryjoin_np(producer[joined].id, NULL) == 0)
			joined++;
	}
	for (unsigned i = 0; i < PRODUCERS; i++)
		CHECK_EQ(next[i], RECORDS);
	CHECK_EQ(arena.ring->head, arena.ring->tail);
	for (unsigned i = 0; i < 4 * CAPACITY; i++)
		CHECK_EQ(arena.ring->data[i], 0);
}

static struct arena slow_arena;
static uint8_t *slow_page;

/* The producer stumbles in the middle of its record, and while it lies there the reader gives the record up. */
static void give_up_record(int signal)
{
	uint64_t *first = (void *)slow_arena.ring->data;

	(void)signal;
	if (!(*first & HI_RING_BUSY))
		_exit(3);
	*first = 0;
	mprotect(slow_page, HI_PAGE_BYTES, PROT_READ | PROT_WRITE);
}

UNIT_TEST(a_record_given_up_by_the_reader_is_lost)
{
	uint8_t *pages = arena_map((size_t)2 * HI_PAGE_BYTES, MAP_PRIVATE);
	struct hi_record_header *header = (void *)(pages + HI_PAGE_BYTES - sizeof(*header));

	slow_arena = arena_open(1, 4, CAPACITY);
	slow_page = pages + HI_PAGE_BYTES;
	header->type_busy = HI_RECORD_ALLOC;
	mprotect(slow_page, HI_PAGE_BYTES, PROT_NONE);
	signal(SIGSEGV, give_up_record);
	CHECK_EQ(ring_put(slow_arena.state, header, 64, RING_ORDINARY), RING_LOST);
}

UNIT_MAIN()
