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
	bool is_new = false;
	struct hi_thread_slot *slot = thread_slot_claim(arena.state, 0x7000, NOW, &is_new);

	CHECK(slot && is_new);
	CHECK(slot == thread_slot_home(arena.state, 0x7000));
	CHECK_EQ(slot->owner, 0x7000);
	CHECK(thread_slot_claim(arena.state, 0x7000, NOW + 5, &is_new) == slot);
	CHECK(!is_new);
	CHECK_EQ(slot->last_seen, NOW + 5);
}

UNIT_TEST(threads_of_one_hash_lie_side_by_side)
{
	struct arena arena = open_slots();
	uint64_t thread = 0;
	bool is_new;

	for (unsigned i = 0; i < THREAD_SLOT_PROBES; i++) {
		thread = thread_at(77, thread);
		struct hi_thread_slot *slot = thread_slot_claim(arena.state, thread, NOW, &is_new);

		CHECK(slot && is_new);
		CHECK_EQ(slot - arena.slots, 77 ^ i);
		CHECK_EQ(thread_slot_is_fast(arena.state, slot, thread), i < THREAD_SLOT_FAST);
	}
	CHECK(!thread_slot_claim(arena.state, thread_at(77, thread), NOW, &is_new));
}

UNIT_TEST(evicts_who_was_long_away_and_is_not_inside)
{
	struct arena arena = open_slots();
	uint64_t first = thread_at(5, 0), thread = first, late;
	struct hi_thread_slot *slot;
	bool is_new;

	for (unsigned i = 0; i < THREAD_SLOT_PROBES; i++, thread = thread_at(5, thread))
		CHECK(thread_slot_claim(arena.state, thread, NOW, &is_new));
	late = thread;
	CHECK(!thread_slot_claim(arena.state, late, NOW + THREAD_SLOT_STALE_CYCLES, &is_new));
	thread_slot_home(arena.state, first)->in_flight = 1;
	slot = thread_slot_claim(arena.state, late, NOW + THREAD_SLOT_STALE_CYCLES + 1, &is_new);
	CHECK(slot && is_new && slot == &arena.slots[5 ^ 1]);
	CHECK_EQ(slot->owner, late);
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
	bool is_new;

	claimant->slot = thread_slot_claim(claimant->arena->state, claimant->thread, NOW, &is_new);
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
				CHECK_EQ(claimant[i].slot->owner, claimant[i].thread);
		}
		munmap(arena.state, HI_PAGE_BYTES);
	}
}

UNIT_MAIN()
