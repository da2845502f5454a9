/* SPDX-License-Identifier: MIT */
/*
 * payload_ring_test.c - the producer's side of the rings against the reader of payload_arena.h, and
 * where there are several against the injector's.
 */
#include <pthread.h>
#include <sched.h>

#include "../../../injector/stream/ring_reader.c" /* which is linked to other tests only */
#include "arch/arch.h"
#include "counter_order.h"
#include "payload_arena.h"
#include "ring.h"
#include "ring_next.h"
#include "stepping.h"

enum { CAPACITY = 4096, PRODUCERS = 4, RECORDS = 10000 };

static enum ring_outcome put_free(struct arena *arena, uint64_t address, enum ring_class class)
{
	const uint64_t word[] = {(uint64_t)HI_RECORD_FREE << 32, 0, 0, address};

	return ring_put(arena->state, (struct ring_home){.number = 0}, word, 4, class);
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

/*
 * What anybody may write over the head of a ring: whatever it says, records go where the ring is,
 * and nowhere else.
 */
UNIT_TEST(a_head_that_was_written_over_leads_nowhere_else)
{
	static const uint64_t nasty[] = {0,
					 1,
					 31,
					 CAPACITY - 24,
					 CAPACITY + 5,
					 1ull << 43,
					 UINT64_MAX - 63,
					 0x84439e031410ull};
	struct arena arena = arena_open_with_rings(1, 4, CAPACITY, 3);
	struct hi_ring *first = arena.ring, *next = hi_ring_at(first, CAPACITY, 1);

	for (unsigned i = 0; i < sizeof(nasty) / sizeof(nasty[0]); i++)
		for (unsigned j = 0; j < sizeof(nasty) / sizeof(nasty[0]); j++) {
			memset(first, (int)(16 * i + j), sizeof(*first));
			first->capacity = nasty[i];
			first->head = first->tail = nasty[j];
			arena.control->ring_mask = UINT32_MAX;
			CHECK_EQ(put_free(&arena, 1, RING_VITAL), RING_COMMITTED);
			CHECK_EQ(next->capacity, CAPACITY);
			CHECK_EQ(next->head, 0);
		}
}

/*
 * Alloc-like records of changing length, each word derived from the producer and its serial number.
 */
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
		while (ring_put(producer->arena->state, (struct ring_home){.number = 0}, words,
				bytes / 8, RING_ORDINARY) == RING_FULL)
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
			uint64_t serial = header->cycles, from = header->thread,
				 bytes = 32 + 8 * (serial % 50);

			CHECK(from < PRODUCERS && serial == next[from]);
			CHECK_EQ(header->size,
				 (bytes + HI_RING_UNIT - 1) / HI_RING_UNIT * HI_RING_UNIT);
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

/*
 * The producer stumbles in the middle of its record, and while it lies there the reader gives the
 * record up.
 */
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
	uint64_t *word = (void *)(pages + HI_PAGE_BYTES - sizeof(struct hi_record_header));

	slow_arena = arena_open(1, 4, CAPACITY);
	slow_page = pages + HI_PAGE_BYTES;
	word[0] = (uint64_t)HI_RECORD_ALLOC << 32;
	mprotect(slow_page, HI_PAGE_BYTES, PROT_NONE);
	signal(SIGSEGV, give_up_record);
	CHECK_EQ(
		ring_put(slow_arena.state, (struct ring_home){.number = 0}, word, 8, RING_ORDINARY),
		RING_LOST);
}

/* ---- several rings --------------------------------------------------------------------------- */

enum { RINGS = 4, RING_RECORDS = CAPACITY / HI_RING_UNIT };

static uint64_t records_in(const struct arena *arena, unsigned ring)
{
	return hi_ring_at(arena->ring, CAPACITY, ring)->head / HI_RING_UNIT;
}

/* Of these four two are for all, and two for a thread of its own each. */
static enum ring_outcome put_at(const struct arena *arena, struct ring_home home, uint64_t cycles,
				enum ring_class class)
{
	const uint64_t word[] = {(uint64_t)HI_RECORD_FREE << 32, cycles, 0, 0};

	return ring_put(arena->state, home, word, 4, class);
}

UNIT_TEST(a_full_ring_spills_over_to_those_for_all)
{
	const struct ring_home own = {.number = 3, .is_own = true}, shared = {.number = 1};
	struct arena arena = arena_open_with_rings(1, 4, CAPACITY, RINGS);
	union ring_record got;
	struct ring_reader reader;
	uint64_t put = 0;

	while (put_at(&arena, own, ++put, RING_ORDINARY) == RING_COMMITTED) {
		if (put == RING_RECORDS * 3 / 4 + 1) {
			CHECK_EQ(records_in(&arena, 3), RING_RECORDS * 3 / 4);
			CHECK_EQ(records_in(&arena, 1), 1);
			CHECK_EQ(records_in(&arena, 0), 0);
		}
	}
	CHECK_EQ(put - 1, (RINGS - 1) * RING_RECORDS * 3 / 4);
	CHECK_EQ(put_at(&arena, shared, put, RING_ORDINARY), RING_FULL);
	while (put_at(&arena, own, put, RING_VITAL) == RING_COMMITTED)
		put++;
	CHECK_EQ(put - 1, (RINGS - 1) * RING_RECORDS);
	CHECK_EQ(records_in(&arena, 2), 0);
	CHECK_EQ(put_at(&arena, shared, put, RING_VITAL), RING_FULL);
	CHECK_EQ(put_at(&arena, (struct ring_home){.number = 2, .is_own = true}, put++, RING_VITAL),
		 RING_COMMITTED);
	ring_reader_open(&reader, &(struct rings){arena.ring, CAPACITY, RINGS});
	ring_reader_mark(&reader);
	for (uint64_t i = 1; i < put; i++) {
		CHECK_EQ(ring_reader_next(&reader, 1, 0, &got), 1);
		CHECK_EQ(got.header.cycles, i);
	}
	CHECK_EQ(ring_reader_next(&reader, 1, 0, &got), 0);
}

/*
 * A signal handler of the thread to which a ring belongs records something, too, at whatever
 * instruction it comes.
 */
static struct arena stepped_arena;
static const struct ring_home stepped_home = {.number = 3, .is_own = true};
static volatile unsigned steps_left, by_handler;
extern const char __executable_start, etext;

static void put_at_step(int signal, siginfo_t *info, void *context)
{
	const uintptr_t pc = stepping_pc(context);

	(void)signal, (void)info;
	if (pc < (uintptr_t)&__executable_start || pc >= (uintptr_t)&etext || !steps_left ||
	    --steps_left)
		return;
	by_handler += put_at(&stepped_arena, stepped_home, 2, RING_VITAL) == RING_COMMITTED;
}

UNIT_TEST(the_owner_of_a_ring_may_be_interrupted_anywhere)
{
	const struct sigaction action = {.sa_sigaction = put_at_step, .sa_flags = SA_SIGINFO};
	unsigned put = 0, interrupted = 0;
	struct ring_reader reader;
	union ring_record got;

	if (!CAN_STEP_ITSELF)
		SKIP("on this CPU no program can step through itself");
	stepped_arena = arena_open_with_rings(1, 4, 16 * CAPACITY, RINGS);
	ring_reader_open(&reader, &(struct rings){stepped_arena.ring, 16 * CAPACITY, RINGS});
	CHECK_EQ(sigaction(SIGTRAP, &action, NULL), 0);
	do {
		steps_left = ++put;
		by_handler = 0;
		set_stepping(true);
		const enum ring_outcome outcome =
			put_at(&stepped_arena, stepped_home, 1, RING_VITAL);
		set_stepping(false);

		CHECK_EQ(outcome, RING_COMMITTED);
		interrupted += by_handler;
		ring_reader_mark(&reader);
		for (unsigned i = 0; i < 1 + by_handler; i++)
			CHECK_EQ(ring_reader_next(&reader, 1, UINT64_MAX, &got), 1);
		CHECK_EQ(ring_reader_next(&reader, 1, UINT64_MAX, &got), 0);
	} while (by_handler);
	printf("# %u records, %u by the handler\n", put, interrupted);
	CHECK(interrupted > 40);
	CHECK_EQ(reader.skipped, 0);
	CHECK_EQ(hi_ring_at(stepped_arena.ring, 16 * CAPACITY, 3)->head,
		 (uint64_t)HI_RING_UNIT * (put + interrupted));
}

/* Blocks that one thread allocates, another one frees, and a third is given next. */
enum { TRADERS = 6, BLOCKS = 64, EVENTS = 1200000 };

struct market {
	struct arena arena;
	uint64_t free_block[BLOCKS], live_block[BLOCKS]; /* 0 = nothing in this place */
};

struct trader {
	struct market *market;
	/* the first ones have rings of their own, the others share the rest */
	struct ring_home home;
	uint64_t number, random;
	pthread_t id;
};

static void record(const struct trader *trader, enum hi_record_type type, uint64_t address)
{
	uint64_t word[sizeof(struct hi_record_known) / 8] = {0};
	struct hi_record_header *header = (void *)word;
	const uint32_t bytes = type == HI_RECORD_FREE ? sizeof(struct hi_record_free)
						      : sizeof(struct hi_record_known);

	header->type_busy = type;
	header->cycles = arch_cycles();
	header->thread = trader->number;
	word[sizeof(*header) / 8] = address;
	while (ring_put(trader->market->arena.state, trader->home, word, bytes / 8,
			type == HI_RECORD_FREE ? RING_VITAL : RING_ORDINARY) != RING_COMMITTED)
		sched_yield();
}

/* Takes what lies in some place, and leaves `block` there. */
static uint64_t swap(struct trader *trader, uint64_t place[BLOCKS], uint64_t block)
{
	trader->random = trader->random * 6364136223846793005u + 1442695040888963407u;
	return __atomic_exchange_n(&place[trader->random >> 33 & (BLOCKS - 1)], block,
				   __ATOMIC_ACQ_REL);
}

static void *trade(void *argument)
{
	struct trader *trader = argument;
	struct market *market = trader->market;

	for (unsigned events = 0; events < EVENTS / TRADERS;) {
		uint64_t block = swap(trader, market->free_block, 0);

		if (block) {
			record(trader, HI_RECORD_KNOWN, block);
			events++;
		}
		block = swap(trader, market->live_block, block);
		if (block) {
			record(trader, HI_RECORD_FREE, block);
			events++;
		}
		while (block) /* there is a place for each */
			block = swap(trader, market->free_block, block);
	}
	return NULL;
}

UNIT_TEST(no_event_comes_before_those_that_it_follows_from)
{
	static struct market market;
	struct trader trader[TRADERS];
	struct ring_reader reader;
	union ring_record record;
	const unsigned rings = COUNTER_ORDERS_RINGS ? RINGS : 1;
	bool is_live[BLOCKS + 1] = {false};
	unsigned joined = 0;

	market.arena = arena_open_with_rings(1, 4, CAPACITY, rings);
	ring_reader_open(&reader, &(struct rings){market.arena.ring, CAPACITY, rings});
	for (uint64_t i = 0; i < BLOCKS; i++)
		market.free_block[i] = i + 1;
	for (unsigned i = 0; i < TRADERS; i++) {
		trader[i] = (struct trader){.market = &market, .number = i, .random = i};
		if (COUNTER_ORDERS_RINGS)
			trader[i].home = i < RINGS / 2
						 ? (struct ring_home){.number = RINGS / 2 + i,
								      .is_own = true}
						 : (struct ring_home){.number = i % (RINGS / 2)};
		CHECK_EQ(pthread_create(&trader[i].id, NULL, trade, &trader[i]), 0);
	}
	for (bool is_done = false; !is_done;) {
		is_done = joined == TRADERS;
		ring_reader_mark(&reader);
		while (ring_reader_next(&reader, 1, UINT64_MAX, &record) == 1) {
			const bool is_free = record.header.type_busy == HI_RECORD_FREE;
			const uint64_t address = record.free.address;

			CHECK(address >= 1 && address <= BLOCKS);
			CHECK_EQ(is_live[address], is_free);
			is_live[address] = !is_free;
		}
		sched_yield();
		while (joined < TRADERS && pthread_tryjoin_np(trader[joined].id, NULL) == 0)
			joined++;
	}
	CHECK(reader.allocs + reader.frees >= EVENTS);
	CHECK_EQ(reader.skipped, 0);
	for (unsigned i = 0; i < rings; i++) {
		struct hi_ring *ring = hi_ring_at(market.arena.ring, CAPACITY, i);

		CHECK(ring->head > 0);
		CHECK_EQ(ring->head, ring->tail);
	}
}

UNIT_MAIN()
