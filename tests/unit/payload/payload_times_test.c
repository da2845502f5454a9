/* SPDX-License-Identifier: MIT */
/*
 * payload_times_test.c - the times that records bear: in order, and from the clock only where that
 * order asks for it.
 */
#include <pthread.h>

#include "payload_guest.h"

/* Times of all records so far; how many of them were read from the clock since `since`. */
static unsigned expect_rising_times(struct guest *guest, uint64_t *last, uint64_t since)
{
	uint64_t record[HI_RING_SIZE_MAX / 8];
	const struct hi_record_header *header = (const void *)record;
	unsigned read = 0;

	while (arena_take(&guest->arena, record)) {
		CHECK(header->cycles > *last);
		*last = header->cycles;
		read += header->cycles >= since;
	}
	CHECK(*last <= arch_cycles());
	return read;
}

static void *allocate_once(void *guest)
{
	((struct guest *)guest)->free(((struct guest *)guest)->malloc(1));
	return NULL;
}

UNIT_TEST(a_thread_that_is_alone_reads_the_clock_now_and_then)
{
	enum { ROUNDS = 4000 };
	struct guest guest = guest_open(1);
	uint64_t last = 0;
	unsigned read = 0;
	pthread_t other;

	guest.arena.control->heartbeat = arch_cycles();
	for (unsigned i = 0; i < ROUNDS; i++) {
		const uint64_t since = arch_cycles();

		guest.free(guest.malloc(10));
		read += expect_rising_times(&guest, &last, since);
	}
	printf("# of %d times %u were read\n", 2 * ROUNDS, read);
	CHECK(read > ROUNDS / 100 && read < ROUNDS / 10);
	guest.arena.control->heartbeat = arch_cycles();
	guest.free(guest.malloc(10));
	expect_rising_times(&guest, &last, 0);
	CHECK(last >= guest.arena.control->heartbeat);
	CHECK_EQ(pthread_create(&other, NULL, allocate_once, &guest), 0);
	CHECK_EQ(pthread_join(other, NULL), 0);
	arena_drain(&guest.arena);
	for (unsigned i = 0; i < ROUNDS; i++) {
		const uint64_t since = arch_cycles();

		guest.free(guest.malloc(10));
		CHECK_EQ(expect_rising_times(&guest, &last, since), 2);
	}
}

/* In the other ring it may lie behind a record of another thread, of whenever. */
UNIT_TEST(what_follows_a_record_in_another_ring_bears_a_time_after_it)
{
	enum { RINGS = 2, BYTES = 4096, ROUNDS = 50 };
	struct guest guest = guest_open_in(arena_open_with_rings(1, 10, BYTES, RINGS));
	struct hi_ring *shared = guest.arena.ring, *own = hi_ring_at(shared, BYTES, 1);

	for (unsigned round = 0; round < ROUNDS; round++) {
		const uint64_t *next;
		uint64_t since;

		do {
			since = arch_cycles();
			guest.free(guest.malloc(10));
		} while (shared->head == shared->tail);
		memset(own->data, 0, BYTES);
		memset(shared->data, 0, BYTES);
		own->tail = own->head;
		shared->tail = shared->head;
		guest.free(guest.malloc(10));
		next = (const void *)(own->data + own->tail % BYTES);
		CHECK_EQ(next[0] >> 32, HI_RECORD_KNOWN);
		CHECK(next[1] > since);
	}
	CHECK_EQ(guest.arena.state->threads, 1);
}

/* Where it did not get in anywhere there is nothing to be later than. */
UNIT_TEST(what_no_ring_has_room_for_reads_no_clock)
{
	enum { RINGS = 2, BYTES = 4096, FILL = 200, ROUNDS = 400 };
	struct guest guest = guest_open_in(arena_open_with_rings(1, 10, BYTES, RINGS));
	const struct hi_counters *counters = &guest.arena.control->counters;
	unsigned read = 0;

	for (unsigned i = 0; i < FILL; i++)
		guest.free(guest.malloc(10));
	for (unsigned i = 0; i < ROUNDS; i++) {
		const uint64_t since = arch_cycles(), dropped = counters->dropped_allocs;

		guest.free(guest.malloc(10));
		CHECK_EQ(counters->dropped_allocs, dropped + 1);
		read += own_slot(&guest)->last_seen >= since;
	}
	printf("# %u of %d times it was read\n", read, ROUNDS);
	CHECK(read < ROUNDS / 4);
}

UNIT_MAIN()
