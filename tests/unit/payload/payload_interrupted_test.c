/* SPDX-License-Identifier: MIT */
/*
 * payload_interrupted_test.c - a signal handler allocates, at each instruction of a gate entry: the
 * countdown is right afterwards, or wrong by no more than what gate.S of the CPU says.
 */
#include "payload_guest.h"
#include "stepped.h"

#define LARGE (1 << 16)              /* more bytes than a case allocates */
#define INTERVAL (LARGE * 1ll << 32) /* what is drawn is less than LARGE once in 2^32 times */

static struct guest guest;
static size_t by_handler;
static void *block_of_handler;

/* The thread is in the gate, and so nowhere in the allocator. */
static void allocate_too(int signal)
{
	(void)signal;
	block_of_handler = guest.malloc(by_handler);
}

struct result {
	bool was_interrupted;
	int64_t countdown;
	uint64_t samples;
};

/* Interrupts a malloc at the at-th instruction of its entry. */
static struct result interrupt(unsigned at, int64_t countdown, size_t size)
{
	const uintptr_t entry = (uintptr_t)guest.malloc;
	const uint64_t samples = arena_allocs(&guest.arena);
	struct result result;

	set_countdown(&guest, countdown);
	stepped_begin((struct stepped_code){entry, entry + HI_GATE_STRIDE}, at);
	void *block = guest.malloc(size);
	result.was_interrupted = stepped_end();
	result.countdown = own_slot(&guest)->countdown;
	if (result.was_interrupted)
		guest.free(block_of_handler);
	guest.free(block);
	arena_drain(&guest.arena);
	result.samples = arena_allocs(&guest.arena) - samples;
	return result;
}

static void open_guest(size_t size)
{
	const struct sigaction action = {.sa_handler = allocate_too};

	stepped_open();
	CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
	guest = guest_open(INTERVAL);
	by_handler = size;
	guest.free(guest.malloc(1)); /* claims the slot */
	arena_drain(&guest.arena);
	CHECK(own_slot(&guest)->fast_owner);
}

UNIT_TEST(what_a_handler_allocates_is_all_that_may_be_lost)
{
	unsigned at = 1, lost = 0;

	open_guest(1000);
	for (;; at++) {
		const struct result result = interrupt(at, LARGE, 100);

		if (!result.was_interrupted)
			break;
		CHECK_EQ(result.samples, 0);
		if (result.countdown != LARGE - 1100) {
			CHECK_EQ(result.countdown, LARGE - 100);
			lost++;
		}
	}
	printf("# %u instructions, lost at %u\n", at - 1, lost);
	CHECK(at > 9);
	CHECK(GATE_COUNTS_AT_ONCE ? !lost : lost && lost < 8);
}

UNIT_TEST(a_countdown_that_ends_in_the_handler_stays_above_zero)
{
	unsigned at = 1, drawn = 0;

	open_guest(1000);
	for (;; at++) {
		const struct result result = interrupt(at, 500, 100);

		if (!result.was_interrupted)
			break;
		CHECK_EQ(result.samples, 1); /* of the handler */
		if (result.countdown != 400) {
			CHECK(result.countdown > LARGE);
			drawn++;
		}
	}
	CHECK(drawn && drawn < at);
	CHECK(!GATE_COUNTS_AT_ONCE || drawn == at - 1);
}

UNIT_TEST(a_countdown_that_ends_at_the_call_or_in_the_handler_is_drawn_anew)
{
	unsigned at = 1, twice = 0;

	open_guest(60);
	for (;; at++) {
		const struct result result = interrupt(at, 50, 55);

		if (!result.was_interrupted)
			break;
		CHECK(result.samples == 1 || result.samples == 2);
		CHECK(result.countdown > LARGE);
		twice += result.samples == 2;
	}
	printf("# %u instructions, two samples at %u\n", at - 1, twice);
	CHECK(GATE_COUNTS_AT_ONCE ? !twice : twice && twice < 8);
}

UNIT_MAIN()
