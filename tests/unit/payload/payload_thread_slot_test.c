/* SPDX-License-Identifier: MIT */
/*
 * payload_thread_slot_test.c - finding, claiming and evicting thread slots, with invented thread
 * pointers.
 */
#include <pthread.h>
#include <time.h>

#include "hook_scope.h"
#include "payload_arena.h"
#include "thread_slot.h"

#define NOW (100 * THREAD_SLOT_STALE_CYCLES)

static uint64_t home_of(uint64_t thread)
{
	return hi_thread_hash(thread);
}

static uint64_t thread_at(uint64_t home, uint64_t from)
{
	for (from += 64; home_of(from) != home; from += 64)
		;
	return from;
}

static struct arena open_slots(void)
{
	return arena_open(1, 4, 4096);
}

UNIT_TEST(claims_once_and_finds_again)
{
	struct arena arena = open_slots();
	struct hi_thread_slot *slot;

	CHECK(!thread_slot_find(arena.state, 0x7000));
	slot = thread_slot_claim(arena.state, 0x7000, NOW);
	CHECK(slot && slot == thread_slot_home(arena.state, 0x7000));
	CHECK_EQ(slot->owner, 0x7000);
	CHECK(arena.table->claimed[(slot - arena.slots) / HI_SLOTS_A_PAGE / 64] >>
		      (slot - arena.slots) / HI_SLOTS_A_PAGE % 64 &
	      1);
	CHECK_EQ(slot->last_seen, NOW);
	CHECK(thread_slot_find(arena.state, 0x7000) == slot);
}

UNIT_TEST(threads_of_one_hash_lie_side_by_side)
{
	struct arena arena = open_slots();
	uint64_t thread = 0;

	for (unsigned i = 0; i < HI_THREAD_WAYS; i++) {
		thread = thread_at(77, thread);
		struct hi_thread_slot *slot = thread_slot_claim(arena.state, thread, NOW);

		CHECK(slot && thread_slot_find(arena.state, thread) == slot);
		CHECK_EQ(slot - arena.slots, 77 ^ i);
		CHECK_EQ(slot->scratch, i + 1);
	}
	CHECK(!thread_slot_claim(arena.state, thread_at(77, thread), NOW));
}

UNIT_TEST(the_first_threads_get_rings_of_their_own)
{
	enum { RINGS = 8, FOR_ALL = RINGS / 2 };
	struct arena arena = arena_open_with_rings(1, 4, 4096, RINGS);
	uint64_t thread = 0, late;
	struct hi_thread_slot *slot = NULL;
	struct ring_home home;

	for (unsigned i = 0; i < RINGS; i++) {
		thread = thread_at(10 * i, 0);
		slot = thread_slot_claim(arena.state, thread, NOW);
		home = thread_slot_ring(arena.state, slot, true);
		CHECK_EQ(home.is_own, i < FOR_ALL);
		CHECK_EQ(home.number, i < FOR_ALL ? FOR_ALL + i : 10 * i % FOR_ALL);
		home = thread_slot_ring(arena.state, slot, false);
		CHECK(!home.is_own && home.number < FOR_ALL);
	}
	slot = thread_slot_find(arena.state, thread_at(0, 0));
	CHECK(slot->own_ring);
	late = thread_at(0, thread_at(0, 0));
	slot->last_seen = 0;
	for (unsigned i = 1; i < HI_THREAD_WAYS; i++)
		arena.slots[i] = (struct hi_thread_slot){.owner = 64, .last_seen = NOW};
	CHECK(thread_slot_claim(arena.state, late, NOW) == slot);
	CHECK(!thread_slot_is_alone(slot, late) && !thread_slot_is_alone(slot, thread_at(0, 0)));
}

UNIT_TEST(one_ring_is_for_all)
{
	struct arena arena = open_slots();
	struct hi_thread_slot *slot = thread_slot_claim(arena.state, thread_at(3, 0), NOW);

	CHECK_EQ(slot->own_ring, 0);
	CHECK_EQ(thread_slot_ring(arena.state, slot, true).number, 0);
	CHECK(!thread_slot_ring(arena.state, slot, true).is_own);
}

UNIT_TEST(evicts_who_was_long_away_and_is_not_inside)
{
	struct arena arena = open_slots();
	uint64_t first = thread_at(5, 0), thread = first, late;
	struct hi_thread_slot *slot;

	for (unsigned i = 0; i < HI_THREAD_WAYS; i++, thread = thread_at(5, thread))
		CHECK(thread_slot_claim(arena.state, thread, NOW));
	late = thread;
	CHECK(!thread_slot_claim(arena.state, late, NOW + THREAD_SLOT_STALE_CYCLES));
	thread_slot_home(arena.state, first)->in_flight = 1;
	slot = thread_slot_claim(arena.state, late, NOW + THREAD_SLOT_STALE_CYCLES + 1);
	CHECK(slot && slot == &arena.slots[5 ^ 1]);
	CHECK_EQ(slot->owner, late | HI_SLOT_GUEST);
	CHECK(thread_slot_find(arena.state, late) == slot);
	slot = thread_slot_claim(arena.state, thread_at(5, late),
				 NOW + THREAD_SLOT_STALE_CYCLES + 1);
	CHECK(slot == &arena.slots[5 ^ 2]);
}

/* Even where it comes back, for it cannot tell who came in between. */
UNIT_TEST(only_the_first_owner_is_ever_alone)
{
	struct arena arena = open_slots();
	uint64_t first = thread_at(5, 0), second = first, now = NOW;
	struct hi_thread_slot *slot = thread_slot_claim(arena.state, first, now);

	CHECK(thread_slot_is_alone(slot, first));
	for (unsigned i = 1; i < HI_THREAD_WAYS; i++) {
		second = thread_at(5, second);
		arena.slots[5 ^ i].in_flight = 1;
		arena.slots[5 ^ i].owner = 64;
	}
	CHECK(thread_slot_claim(arena.state, second, now += 2 * THREAD_SLOT_STALE_CYCLES) == slot);
	CHECK(!thread_slot_is_alone(slot, second) && !thread_slot_is_alone(slot, first));
	CHECK(thread_slot_claim(arena.state, first, now += 2 * THREAD_SLOT_STALE_CYCLES) == slot);
	CHECK(!thread_slot_is_alone(slot, first));
	CHECK(thread_slot_find(arena.state, first) == slot &&
	      !thread_slot_find(arena.state, second));
}

UNIT_TEST(who_is_alone_is_counted)
{
	struct arena arena = open_slots();
	struct hi_thread_slot *slot = &arena.slots[HI_THREAD_SLOTS - 1];

	CHECK(thread_slot_enter(slot));
	CHECK(!thread_slot_enter(slot));
	CHECK_EQ(slot->in_flight, 2);
}

/* And who finds none left has a slot all the same, but goes by places. */
UNIT_TEST(each_scratch_is_given_once)
{
	struct arena arena = open_slots();
	static bool is_given[HI_OWN_SCRATCHES];

	for (uint64_t home = 0; home < HI_OWN_SCRATCHES + 10; home++) {
		struct hi_thread_slot *slot =
			thread_slot_claim(arena.state, thread_at(home, 0), NOW);

		CHECK(slot);
		CHECK_EQ(thread_slot_is_alone(slot, thread_at(home, 0)),
			 home < HI_OWN_SCRATCHES - 1);
		if (home >= HI_OWN_SCRATCHES - 1)
			continue;
		CHECK(slot->scratch && slot->scratch < HI_OWN_SCRATCHES &&
		      !is_given[slot->scratch]);
		is_given[slot->scratch] = true;
	}
}

/* What is left of a draw in a slot that had been lost would be counted down for ever. */
UNIT_TEST(the_gate_counts_in_one_slot_only)
{
	struct arena arena = open_slots();
	const uint64_t thread = thread_at(5, 0);
	struct hi_thread_slot *slot = thread_slot_claim(arena.state, thread, NOW);

	slot->fast_owner = arena.slots[5 ^ 3].fast_owner = thread;
	arena.slots[5 ^ 2].fast_owner = 64;
	thread_slot_settle(arena.state, slot, thread);
	CHECK_EQ(slot->fast_owner, thread);
	CHECK_EQ(arena.slots[5 ^ 2].fast_owner, 64);
	CHECK_EQ(arena.slots[5 ^ 3].fast_owner, 0);
}

/* How many of so many threads, whose stacks lie so far from each other, find no slot. */
static unsigned without_slot(struct arena *arena, uint64_t first, uint64_t stride, unsigned threads)
{
	unsigned without = 0;

	for (unsigned i = 0; i < threads; i++)
		without += !thread_slot_claim(arena->state, first + i * stride, NOW);
	for (unsigned i = 0; i < threads; i++)
		for (unsigned way = 0; way < HI_THREAD_WAYS; way++)
			arena->slots[home_of(first + i * stride) ^ way].owner = 0;
	return without;
}

#define THREADS 4096u
#define PAGES_MAX 600u

/* A thread that has a slot is found by the gate. */
UNIT_TEST(stacks_at_any_distance_find_slots)
{
	static const uint64_t first[] = {0x7f1234567700, 0x7ffff7d8e6c0, 0x55d0c0de0740,
					 0x7f0000000b38};
	/* pages: 4, 8, 10, 16 and 64 MB, with guards */
	static const uint64_t usual[] = {1024, 1025, 2048, 2049, 2050,
					 2560, 2561, 4096, 4097, 16385};
	struct arena arena = open_slots();

	for (unsigned i = 0; i < sizeof(first) / sizeof(*first); i++) {
		for (uint64_t pages = 1; pages <= PAGES_MAX; pages++)
			CHECK_EQ(without_slot(&arena, first[i], pages * HI_PAGE_BYTES, THREADS), 0);
		for (unsigned j = 0; j < sizeof(usual) / sizeof(*usual); j++)
			CHECK_EQ(without_slot(&arena, first[i], usual[j] * HI_PAGE_BYTES, THREADS),
				 0);
	}
}

/* At random places some four in a thousand find their ways taken: as many as by any hash. */
UNIT_TEST(stacks_at_random_places_mostly_find_slots)
{
	struct arena arena = open_slots();
	uint64_t random = 1;
	unsigned without = 0;

	for (unsigned i = 0; i < THREADS; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		without += !thread_slot_claim(arena.state,
					      0x7e0000000700 + (random >> 36) * HI_PAGE_BYTES, NOW);
	}
	CHECK(without < THREADS / 100);
}

struct claimant {
	struct arena *arena;
	uint64_t thread;
	struct hi_thread_slot *slot;
	pthread_t id;
};

static void *claim(void *argument)
{
	struct claimant *claimant = argument;

	claimant->slot = thread_slot_claim(claimant->arena->state, claimant->thread, NOW);
	return NULL;
}

UNIT_TEST(racing_threads_get_slots_of_their_own)
{
	for (int round = 0; round < 100; round++) {
		struct arena arena = open_slots();
		struct claimant claimant[HI_THREAD_WAYS];
		uint64_t thread = 0;

		for (unsigned i = 0; i < HI_THREAD_WAYS; i++) {
			thread = thread_at(9, thread);
			claimant[i] = (struct claimant){.arena = &arena, .thread = thread};
			CHECK_EQ(pthread_create(&claimant[i].id, NULL, claim, &claimant[i]), 0);
		}
		for (unsigned i = 0; i < HI_THREAD_WAYS; i++)
			pthread_join(claimant[i].id, NULL);
		for (unsigned i = 0; i < HI_THREAD_WAYS; i++) {
			/*
			 * Who loses a swap looks at the next slot only: the last may go without,
			 * none may share.
			 */
			if (claimant[i].slot)
				CHECK_EQ(claimant[i].slot->owner & ~HI_SLOT_GUEST,
					 claimant[i].thread);
		}
		munmap(arena.state, HI_PAGE_BYTES);
	}
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* However often the counter ticks. */
UNIT_TEST(bounds_are_as_long_on_every_machine)
{
	const uint64_t begun = arch_cycles(), begun_ns = now_ns();
	double tick_ns, stale_ns, interrupted_ns;

	while (now_ns() - begun_ns < 20000000)
		;
	tick_ns = (double)(now_ns() - begun_ns) / (double)(arch_cycles() - begun);
	stale_ns = (double)THREAD_SLOT_STALE_CYCLES * tick_ns;
	interrupted_ns = (double)HOOK_SCOPE_CYCLES_MAX * tick_ns;
	printf("# a tick is %.2f ns\n", tick_ns);
	CHECK(stale_ns > 30e6 && stale_ns < 300e6);
	CHECK(interrupted_ns > 50e3 && interrupted_ns < 400e3);
}

UNIT_MAIN()
