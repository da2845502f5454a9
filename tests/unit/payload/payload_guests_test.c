/* SPDX-License-Identifier: MIT */
/*
 * payload_guests_test.c - threads that are not alone with a slot: later owners, and those that have
 * none. They are sampled like all others, without bias, know their nested calls from the hook
 * scopes of other threads, and leave nothing behind.
 */
#include <math.h>
#include <pthread.h>

#include "payload_guest.h"
#include "place.h"

static const uint64_t never = 1ull << 62; /* by the cycle counter */

/* Every slot that the thread may have is another's, and will be. */
static void take_slots(struct guest *guest)
{
	for (unsigned i = 0; i < HI_THREAD_SLOTS; i++)
		guest->arena.slots[i] =
			(struct hi_thread_slot){.owner = 64 + 64 * i, .last_seen = never};
}

static void free_slots(struct guest *guest)
{
	memset(guest->arena.slots, 0, HI_THREAD_SLOTS * sizeof(*guest->arena.slots));
}

/* All but so many of the places are other threads', which are inside. */
static void take_places(struct guest *guest, unsigned left)
{
	for (unsigned i = 0; i < HI_PLACES; i++)
		if (i % HI_PLACE_WAYS >= left)
			guest->arena.table->place[i] =
				(struct hi_place){.holder = 64 + i, .count = 1};
}

static void free_places(struct guest *guest)
{
	for (unsigned i = 0; i < HI_PLACES; i++)
		if (guest->arena.table->place[i].holder == 64 + i)
			guest->arena.table->place[i].count--;
}

static struct guest *observed;
static uint64_t observed_frames;

static void *observing_malloc(size_t size)
{
	observed_frames = observed->arena.table->passing;
	for (unsigned i = 0; i < HI_PLACES; i++)
		observed_frames += observed->arena.table->place[i].count;
	return malloc(size);
}

static void expect_quiet(struct guest *guest)
{
	expect_nothing(guest);
	arena_check_quiet(&guest->arena);
}

UNIT_TEST(without_a_slot_all_is_seen)
{
	struct guest guest = guest_open(1);
	void *block, *other;

	take_slots(&guest);
	observed = &guest;
	guest.malloc_words->original = (uintptr_t)observing_malloc;
	block = guest.malloc(20);
	CHECK_EQ(observed_frames, 1);
	expect_alloc(&guest, block, 20, HI_FN_MALLOC);
	other = guest.realloc(block, 30);
	expect_free(&guest, HI_RECORD_FREE, block);
	expect_alloc(&guest, other, 30, HI_FN_REALLOC);
	guest.free(other);
	expect_free(&guest, HI_RECORD_FREE, other);
	CHECK_EQ(guest.arena.control->counters.no_thread_slot, 0);
	expect_quiet(&guest);
}

/*
 * No matter which thread is inside: once, all that had no slot shared a count with it, and a sample
 * that was due then was thrown away as if it were nested.
 */
UNIT_TEST(a_later_owner_is_sampled_no_matter_who_is_inside)
{
	struct guest guest = guest_open(1);
	struct hi_thread_slot *slot = own_slot(&guest);
	void *block;

	*slot = (struct hi_thread_slot){.owner = arch_thread_pointer() | HI_SLOT_GUEST,
					.in_flight = 1};
	take_places(&guest, 1);
	block = guest.malloc(20);
	expect_alloc(&guest, block, 20, HI_FN_MALLOC);
	guest.free(block);
	expect_free(&guest, HI_RECORD_FREE, block);
	CHECK_EQ(slot->in_flight, 1);
	slot->in_flight = 0;
	free_places(&guest);
	expect_quiet(&guest);
}

static void *(*nested)(size_t);
static void *nested_block;

static void *nesting_malloc(size_t size)
{
	void *block = malloc(size);

	if (nested) {
		void *(*call)(size_t) = nested;

		nested = NULL;
		nested_block = call(5);
	}
	return block;
}

static void check_nested_call(struct guest *guest)
{
	void *block;

	guest->malloc_words->original = (uintptr_t)nesting_malloc;
	nested = guest->malloc;
	block = guest->malloc(20);
	expect_alloc(guest, block, 20, HI_FN_MALLOC);
	expect_nothing(guest);
	guest->free(nested_block);
	expect_nothing(guest);
	guest->free(block);
	expect_free(guest, HI_RECORD_FREE, block);
}

UNIT_TEST(a_guest_knows_its_nested_calls)
{
	struct guest guest = guest_open(1);

	take_slots(&guest);
	check_nested_call(&guest);
	free_slots(&guest);
	*own_slot(&guest) = (struct hi_thread_slot){.owner = arch_thread_pointer() | HI_SLOT_GUEST};
	check_nested_call(&guest);
	CHECK_EQ(own_slot(&guest)->owner, arch_thread_pointer() | HI_SLOT_GUEST);
	expect_quiet(&guest);
}

static void *freeing_malloc(size_t size)
{
	free_slots(observed);
	return nesting_malloc(size);
}

/*
 * A slot that comes free in the midst of a hook scope is not claimed by a call that is nested in
 * it: it would take itself for the first.
 */
UNIT_TEST(a_nested_call_claims_no_slot)
{
	struct guest guest = guest_open(1);
	void *block;

	observed = &guest;
	take_slots(&guest);
	guest.malloc_words->original = (uintptr_t)freeing_malloc;
	nested = guest.malloc;
	block = guest.malloc(20);
	expect_alloc(&guest, block, 20, HI_FN_MALLOC);
	expect_nothing(&guest);
	guest.free(nested_block);
	CHECK_EQ(own_slot(&guest)->owner, 0);
	guest.free(block);
	CHECK_EQ(own_slot(&guest)->owner, arch_thread_pointer()); /* now it has one */
	expect_free(&guest, HI_RECORD_FREE, block);
	expect_quiet(&guest);
}

UNIT_TEST(what_finds_no_place_is_counted)
{
	struct guest guest = guest_open(1);
	const struct hi_counters *counters = &guest.arena.control->counters;
	void *block;

	take_slots(&guest);
	take_places(&guest, 0);
	block = guest.malloc(20);
	CHECK_EQ(counters->no_thread_slot, 1);
	CHECK_EQ(counters->passed_bytes, 20);
	guest.free(block);
	CHECK_EQ(counters->no_thread_slot, 1);
	expect_nothing(&guest);
	CHECK_EQ(guest.arena.table->passing, 0);

	free_slots(&guest); /* a later owner, whose countdown has run out */
	guest.arena.control->interval = 1 << 20;
	*own_slot(&guest) = (struct hi_thread_slot){.owner = arch_thread_pointer() | HI_SLOT_GUEST,
						    .fast_owner = arch_thread_pointer(),
						    .countdown = 30,
						    .last_seen = never};
	guest.free(guest.malloc(20));
	CHECK_EQ(counters->no_thread_slot, 1);
	guest.free(guest.malloc(20));
	CHECK_EQ(counters->no_thread_slot, 2 + (1 << 20) / 20);
	CHECK_EQ(counters->passed_bytes, 20 + 20 + (1 << 20));
	CHECK(own_slot(&guest)->countdown > 0);
	free_places(&guest);
	expect_quiet(&guest);
}

/*
 * A count that will never come down is for leak.c to forget; one that must is `passing`, in the
 * midst of which the original runs here.
 */
UNIT_TEST(what_finds_no_place_is_counted_while_it_is_inside)
{
	struct guest guest = guest_open(1);
	void *block = NULL;

	take_slots(&guest);
	take_places(&guest, 0);
	observed = &guest;
	guest.arena.table->place[0].count = 1;
	words_of((void *)(uintptr_t)guest.memalign)->original = (uintptr_t)observing_malloc;
	block = guest.memalign(32, 20);
	CHECK_EQ(observed_frames, HI_PLACES + 1);
	CHECK_EQ(guest.arena.table->passing, 0);
	free(block);
	free_places(&guest);
	expect_quiet(&guest);
}

/* ---- no bias --------------------------------------------------------------------------------- */

#define INTERVAL 4096
#define SIZE 1000
#define CALLS 60000u
#define THREADS 8u

static void *allocate(void *context)
{
	struct guest *guest = context;

	for (unsigned i = 0; i < CALLS; i++)
		guest->free(guest->malloc(SIZE));
	return NULL;
}

/*
 * The samples of all threads are as many as chance makes them of so many calls, to within six
 * deviations.
 */
static void check_no_bias(struct guest *guest)
{
	const double probability = -expm1(-(double)SIZE / INTERVAL),
		     calls = (double)CALLS * THREADS;
	pthread_t thread[THREADS];
	const struct hi_counters *counters = &guest->arena.control->counters;
	double samples;

	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, allocate, guest), 0);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	arena_drain(&guest->arena);
	samples = (double)(arena_allocs(&guest->arena) + counters->dropped_allocs);
	CHECK_EQ(counters->no_thread_slot, 0);
	CHECK(fabs(samples - calls * probability) <
	      6 * sqrt(calls * probability * (1 - probability)));
	arena_check_quiet(&guest->arena);
}

UNIT_TEST(a_countdown_for_each_call_is_as_good_as_one_for_many)
{
	struct guest guest = guest_open_in(arena_open(INTERVAL, 10, 1 << 24));

	take_slots(&guest);
	check_no_bias(&guest);
}

/* They take over from each other all the time: no slot is ever young. */
UNIT_TEST(threads_that_share_a_slot_are_not_biased)
{
	struct guest guest = guest_open_in(arena_open(INTERVAL, 10, 1 << 24));

	for (unsigned i = 0; i < HI_THREAD_SLOTS; i++)
		guest.arena.slots[i] = (struct hi_thread_slot){.owner = 64 + 64 * i,
							       .last_seen = i % 16 ? never : 0};
	check_no_bias(&guest);
}

UNIT_MAIN()
