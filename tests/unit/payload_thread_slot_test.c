/* SPDX-License-Identifier: MIT */
/* payload_thread_slot_test.c - finding, claiming and evicting thread slots, with invented thread pointers. */
#include <pthread.h>

#include "payload_arena.h"
#include "thread_slot.h"

#define NOW (100 * THREAD_SLOT_STALE_CYCLES)

static uint64_t home_of(uint64_t thread)
{
	return hi_gate_hash(thread) & (HI_THREAD_SLOTS - 1);
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
	CHECK_EQ(slot->last_seen, NOW);
	CHECK(thread_slot_find(arena.state, 0x7000) == slot);
}

UNIT_TEST(threads_of_one_hash_lie_side_by_side)
{
	struct arena arena = open_slots();
	uint64_t thread = 0;

	for (unsigned i = 0; i < THREAD_SLOT_PROBES; i++) {
		thread = thread_at(77, thread);
		struct hi_thread_slot *slot = thread_slot_claim(arena.state, thread, NOW);

		CHECK(slot && thread_slot_find(arena.state, thread) == slot);
		CHECK_EQ(slot - arena.slots, 77 ^ i);
		CHECK_EQ(thread_slot_is_fast(arena.state, slot, thread), i < THREAD_SLOT_FAST);
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
	CHECK(thread_slot_claim(arena.state, late, NOW) == slot);
	CHECK(!thread_slot_is_first(slot, late) && !thread_slot_is_first(slot, thread_at(0, 0)));
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

	for (unsigned i = 0; i < THREAD_SLOT_PROBES; i++, thread = thread_at(5, thread))
		CHECK(thread_slot_claim(arena.state, thread, NOW));
	late = thread;
	CHECK(!thread_slot_claim(arena.state, late, NOW + THREAD_SLOT_STALE_CYCLES));
	thread_slot_home(arena.state, first)->in_flight = 1;
	slot = thread_slot_claim(arena.state, late, NOW + THREAD_SLOT_STALE_CYCLES + 1);
	CHECK(slot && slot == &arena.slots[5 ^ 1]);
	CHECK_EQ(slot->owner, late | HI_SLOT_TAKEN_OVER);
	CHECK(thread_slot_find(arena.state, late) == slot);
	slot->guests = 1;
	slot = thread_slot_claim(arena.state, thread_at(5, late), NOW + 2 * THREAD_SLOT_STALE_CYCLES + 2);
	CHECK(slot == &arena.slots[5 ^ 2]);
}

/* Even where it comes back, for it cannot tell who came in between. */
UNIT_TEST(only_the_first_owner_is_ever_alone)
{
	struct arena arena = open_slots();
	uint64_t first = thread_at(5, 0), second = first, now = NOW;
	struct hi_thread_slot *slot = thread_slot_claim(arena.state, first, now);

	CHECK(thread_slot_is_first(slot, first));
	for (unsigned i = 1; i < THREAD_SLOT_PROBES; i++) {
		second = thread_at(5, second);
		arena.slots[5 ^ i].in_flight = 1;
		arena.slots[5 ^ i].owner = 64;
	}
	CHECK(thread_slot_claim(arena.state, second, now += 2 * THREAD_SLOT_STALE_CYCLES) == slot);
	CHECK(!thread_slot_is_first(slot, second) && !thread_slot_is_first(slot, first));
	CHECK(thread_slot_claim(arena.state, first, now += 2 * THREAD_SLOT_STALE_CYCLES) == slot);
	CHECK(!thread_slot_is_first(slot, first));
	CHECK(thread_slot_find(arena.state, first) == slot && !thread_slot_find(arena.state, second));
}

/* Counts and scratches of the two kinds lie apart. */
UNIT_TEST(who_is_alone_meets_no_guest)
{
	struct arena arena = open_slots();
	struct hi_thread_slot *slot = &arena.slots[HI_THREAD_SLOTS - 1];

	CHECK(thread_slot_enter(&slot->in_flight, true));
	CHECK(!thread_slot_enter(&slot->in_flight, true));
	CHECK(thread_slot_enter(&slot->guests, false));
	CHECK(!thread_slot_enter(&slot->guests, false));
	CHECK_EQ(slot->in_flight, 2);
	CHECK_EQ(slot->guests, 2);
	CHECK((uint64_t)thread_slot_scratch(arena.state, slot, true) + HI_SCRATCH_BYTES == (uint64_t)thread_slot_scratch(arena.state, arena.slots, false));
	CHECK((uint64_t)thread_slot_scratch(arena.state, slot, false) + HI_SCRATCH_BYTES <= arena.state->rules);
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
		struct claimant claimant[THREAD_SLOT_PROBES];
		uint64_t thread = 0;

		for (unsigned i = 0; i < THREAD_SLOT_PROBES; i++) {
			thread = thread_at(9, thread);
			claimant[i] = (struct claimant){.arena = &arena, .thread = thread};
			CHECK_EQ(pthread_create(&claimant[i].id, NULL, claim, &claimant[i]), 0);
		}
		for (unsigned i = 0; i < THREAD_SLOT_PROBES; i++)
			pthread_join(claimant[i].id, NULL);
		for (unsigned i = 0; i < THREAD_SLOT_PROBES; i++) {
			/* Who loses a swap looks at the next slot only: the last may go without, none may share. */
			if (claimant[i].slot)
				CHECK_EQ(claimant[i].slot->owner & ~HI_SLOT_TAKEN_OVER, claimant[i].thread);
		}
		munmap(arena.state, HI_PAGE_BYTES);
	}
}

UNIT_MAIN()
