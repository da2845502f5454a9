/* SPDX-License-Identifier: MIT */
/*
 * payload_hooks_test.c - what each hooked function records, from end to end: calls through real
 * gate entries, to the real allocator or to one that misbehaves on purpose.
 */
#include <errno.h>
#include <math.h>

#include "payload_guest.h"

#define FAR_AWAY (1ll << 40)

/* ---- plain allocation ------------------------------------------------------------------------ */

UNIT_TEST(every_allocation_is_recorded_at_interval_one)
{
	struct guest guest = guest_open(1);
	void *block = guest.malloc(100), *zeroed = guest.calloc(7, 9),
	     *aligned = guest.aligned_alloc(64, 128), *other = NULL;

	expect_alloc(&guest, block, 100, HI_FN_MALLOC);
	expect_alloc(&guest, zeroed, 63, HI_FN_CALLOC);
	expect_alloc(&guest, aligned, 128, HI_FN_ALIGNED_ALLOC);
	CHECK_EQ((uintptr_t)aligned % 64, 0);
	CHECK_EQ(guest.posix_memalign(&other, 256, 40), 0);
	expect_alloc(&guest, other, 40, HI_FN_POSIX_MEMALIGN);
	guest.free(block);
	expect_free(&guest, HI_RECORD_FREE, block);
	guest.free(zeroed);
	guest.free(aligned);
	guest.free(other);
	guest.free(NULL);
	arena_drain(&guest.arena);
	CHECK_EQ(guest.arena.record_count[HI_RECORD_FREE], 4);
	CHECK_EQ(arena_allocs(&guest.arena), 4);
	arena_check_quiet(&guest.arena);
}

__attribute__((noinline)) static void *call_malloc(struct guest *guest,
						   uint64_t *out_return_address)
{
	void *block = guest->malloc(10);

	*out_return_address = (uintptr_t)__builtin_return_address(0);
	return block;
}

UNIT_TEST(first_frame_is_the_caller)
{
	struct guest guest = guest_open(1);
	uint64_t above;
	void *block = call_malloc(&guest, &above);
	const struct hi_record_alloc *record = arena_expect(&guest.arena, HI_RECORD_ALLOC);

	CHECK_EQ(record->address, (uintptr_t)block);
	CHECK(record->frame[0] > (uintptr_t)call_malloc &&
	      record->frame[0] < (uintptr_t)call_malloc + 1024);
	guest.free(block);
}

UNIT_TEST(failed_allocations_leave_no_record)
{
	struct guest guest = guest_open(1);
	void *block = &guest;

	CHECK(!guest.calloc(SIZE_MAX / 2, 4));
	CHECK(!guest.calloc(SIZE_MAX, SIZE_MAX)); /* a product that wraps to 1 */
	CHECK_EQ(guest.posix_memalign(&block, 3, 100), EINVAL);
	CHECK(block == &guest);
	expect_nothing(&guest);
	arena_check_quiet(&guest.arena);
}

static void *null_malloc(size_t size)
{
	(void)size;
	errno = ENOMEM;
	return NULL;
}

UNIT_TEST(out_of_memory_is_passed_on)
{
	struct guest guest = guest_open(1);

	guest.malloc_words->original = (uintptr_t)null_malloc;
	errno = 0;
	CHECK(!guest.malloc(16));
	CHECK_EQ(errno, ENOMEM);
	expect_nothing(&guest);
	arena_check_quiet(&guest.arena);
}

UNIT_TEST(errno_is_left_alone)
{
	struct guest guest = guest_open(1);

	errno = 4711;
	void *block = guest.malloc(10);
	block = guest.realloc(block, 20);
	guest.free(block);
	CHECK_EQ(errno, 4711);
}

/* ---- what a record says beside --------------------------------------------------------------- */

static size_t usable(void *block)
{
	return *(const uint64_t *)block; /* what the block holds */
}

static uint32_t recorded_slack(struct guest *guest, uint64_t usable)
{
	uint64_t *block = guest->malloc(100);

	*block = usable; /* for realloc, which hands the contents on */
	block = guest->realloc(block, 100);
	arena_expect(&guest->arena, HI_RECORD_ALLOC);
	arena_expect(&guest->arena, HI_RECORD_FREE);
	const uint32_t slack = arena_expect(&guest->arena, HI_RECORD_ALLOC)->slack;
	guest->free(block);
	arena_drain(&guest->arena);
	return slack;
}

UNIT_TEST(usable_size_is_the_allocators_own)
{
	struct guest guest = guest_open(1);

	CHECK_EQ(recorded_slack(&guest, 0), HI_SLACK_UNKNOWN); /* nobody to ask */
	words_of((void *)guest.realloc)->usable_size = (uintptr_t)usable;
	CHECK_EQ(recorded_slack(&guest, 100), 0);
	CHECK_EQ(recorded_slack(&guest, 112), 12);
	CHECK_EQ(recorded_slack(&guest, 99), HI_SLACK_UNKNOWN); /* it knows nothing of this block */
	CHECK_EQ(recorded_slack(&guest, 100 + (1ull << 32)), HI_SLACK_UNKNOWN - 1);

	void *blocks[4] = {0};
	guest.malloc_words->usable_size = words_of((void *)guest.calloc)->usable_size =
		(uintptr_t)malloc_usable_size;
	words_of((void *)guest.aligned_alloc)->usable_size =
		words_of((void *)guest.posix_memalign)->usable_size = (uintptr_t)malloc_usable_size;
	blocks[0] = guest.malloc(101);
	blocks[1] = guest.calloc(3, 7);
	blocks[2] = guest.aligned_alloc(256, 1024);
	CHECK_EQ(guest.posix_memalign(&blocks[3], 64, 333), 0);
	for (int i = 0; i < 4; i++) {
		const struct hi_record_alloc *record = arena_expect(&guest.arena, HI_RECORD_ALLOC);

		CHECK_EQ(record->bytes + record->slack, malloc_usable_size(blocks[i]));
	}
	for (int i = 0; i < 4; i++)
		guest.free(blocks[i]);
	arena_drain(&guest.arena);
}

/* Between the gate's subtraction and the hook a signal handler came, and jumped away. */
UNIT_TEST(a_countdown_left_below_zero_is_drawn_anew_at_the_next_sampled_free)
{
	struct guest guest = guest_open(1 << 20);
	void *sampled;

	guest.free(guest.malloc(1)); /* takes a slot */
	set_countdown(&guest, 1);
	sampled = guest.malloc(10);
	set_countdown(&guest, -5);
	guest.free(guest.malloc(100)); /* seen as no sample, by a comparison without signs */
	CHECK_EQ(own_slot(&guest)->countdown, -105);
	guest.free(sampled);
	CHECK(own_slot(&guest)->countdown > 0);
	arena_check_quiet(&guest.arena);
}

/*
 * A sample stands for what its own countdown was drawn with, whatever the mean has become
 * meanwhile.
 */
UNIT_TEST(samples_carry_the_interval_of_their_countdown)
{
	struct guest guest = guest_open(1 << 10);

	guest.free(guest.malloc(1)); /* claims the slot, and draws */
	arena_drain(&guest.arena);
	guest.arena.control->interval_shift = 5;
	set_countdown(&guest, 50);
	guest.free(guest.malloc(100));
	CHECK_EQ(arena_expect(&guest.arena, HI_RECORD_ALLOC)->interval_shift, 0);
	arena_drain(&guest.arena);
	guest.arena.control->interval_shift = 7;
	set_countdown(&guest, 50);
	guest.free(guest.malloc(100));
	CHECK_EQ(arena_expect(&guest.arena, HI_RECORD_ALLOC)->interval_shift, 5);
	arena_drain(&guest.arena);
}

/*
 * What is sampled exactly for a while and then more seldom: from the first doubling on the gate
 * counts.
 */
UNIT_TEST(exact_mode_ends_with_the_first_doubling)
{
	struct guest guest = guest_open(1);

	guest.free(guest.malloc(1));
	arena_drain(&guest.arena);
	guest.arena.control->interval_shift = 20;
	guest.free(guest.malloc(16));
	CHECK_EQ(arena_expect(&guest.arena, HI_RECORD_ALLOC)->interval_shift, 0);
	arena_drain(&guest.arena);
	CHECK_EQ(own_slot(&guest)->fast_owner, arch_thread_pointer());
	set_countdown(&guest, FAR_AWAY);
	guest.free(guest.malloc(16));
	expect_nothing(&guest);
}

/*
 * The mean goes up and down, and what is allocated while it is up differs from what is allocated
 * while it is down. Samples that were drawn with one mean fall into the time of the other, and
 * weighed by that they would stand for several times too many blocks, or too few.
 */
UNIT_TEST(estimates_stay_unbiased_while_the_interval_changes)
{
	enum { BLOCKS = 1000000, PHASE = 50, SIZE = 64, INTERVAL = 1024 };
	struct guest guest = guest_open(INTERVAL);
	double estimated[2] = {0}, variance[2] = {0};

	for (unsigned i = 0; i < BLOCKS; i++) {
		const unsigned phase = i / PHASE % 2;

		guest.arena.control->interval_shift = phase ? 4 : 0;
		void *block = guest.malloc(SIZE);
		if (guest.arena.ring->head != guest.arena.ring->tail) {
			const double p = -expm1(
				-(double)SIZE /
				(INTERVAL
				 << arena_expect(&guest.arena, HI_RECORD_ALLOC)->interval_shift));

			estimated[phase] += 1 / p;
			variance[phase] += (1 - p) / (p * p);
		}
		guest.free(block);
		arena_drain(&guest.arena);
	}
	for (int phase = 0; phase < 2; phase++) {
		printf("# %.0f of %d, standard error %.0f\n", estimated[phase], BLOCKS / 2,
		       sqrt(variance[phase]));
		CHECK(fabs(estimated[phase] - BLOCKS / 2) < 6 * sqrt(variance[phase]));
		CHECK(sqrt(variance[phase]) < BLOCKS / 40);
	}
}

/* ---- thinning -------------------------------------------------------------------------------- */

/* Two places, one of which allocates a hundred times as often as the other. */
__attribute__((noinline)) static void *allocate_often(const struct guest *guest)
{
	void *block = guest->malloc(48);

	__asm__ volatile("" : "+r"(block));
	return block;
}

__attribute__((noinline)) static void *allocate_seldom(const struct guest *guest)
{
	void *block = guest->malloc(2000);

	__asm__ volatile("" : "+r"(block));
	return block;
}

struct weighed {
	double estimated, variance, samples;
};

static void weigh(struct guest *guest, struct weighed *weighed, double size)
{
	if (guest->arena.ring->head != guest->arena.ring->tail) {
		const double interval =
			(double)(guest->arena.control->interval
				 << arena_expect(&guest->arena, HI_RECORD_ALLOC)->interval_shift);
		const double p = interval <= 1 ? 1 : -expm1(-size / interval);

		weighed->estimated += 1 / p;
		weighed->variance += (1 - p) / (p * p);
		weighed->samples++;
	}
}

/*
 * Frequent places are sampled more seldom, rare ones are not, and both are estimated without bias:
 * by thinning that the injector asks for (shift), and by what the payload adds to it.
 */
static void check_thinning(uint64_t interval, uint8_t shift, bool is_visited)
{
	enum { BLOCKS = 1000000, SELDOM = 100 };
	struct guest guest = guest_open(interval);
	struct hi_thinning *thinning = &guest.arena.control->thinning;
	struct weighed often = {0}, seldom = {0};

	guest.arena.control->shift_max = 20;
	for (unsigned i = 0; i < BLOCKS; i++) {
		void *block = allocate_often(&guest);

		weigh(&guest, &often, 48);
		guest.free(block);
		arena_drain(&guest.arena);
		if (i % SELDOM == 0) {
			block = allocate_seldom(&guest);
			weigh(&guest, &seldom, 2000);
			guest.free(block);
			arena_drain(&guest.arena);
		}
		if (i % 10000 == 0 && is_visited) {
			for (size_t key = 0; key < HI_THINNING_KEYS; key++)
				thinning->shift[key] = thinning->due[key] > 200 ? shift : 0;
			memset(thinning->due, 0, sizeof(thinning->due));
		}
	}
	printf("# %.0f +- %.0f of %d by %.0f samples, %.0f +- %.0f of %d by %.0f\n",
	       often.estimated, sqrt(often.variance), BLOCKS, often.samples, seldom.estimated,
	       sqrt(seldom.variance), BLOCKS / SELDOM, seldom.samples);
	CHECK(fabs(often.estimated - BLOCKS) < 6 * sqrt(often.variance) + 1);
	CHECK(fabs(seldom.estimated - BLOCKS / SELDOM) < 6 * sqrt(seldom.variance) + 1);
	CHECK(often.samples < BLOCKS / 10.0);
	/* without a visit the interval grows and grows */
	CHECK(!is_visited || sqrt(often.variance) < BLOCKS / 10);
}

UNIT_SLOW_TEST(thinning_does_not_bias)
{
	check_thinning(256, 3, true);
	check_thinning(256, 0, false);
	check_thinning(1, 4, true);
	check_thinning(1, 0, false);
}

/* An idle program of which all is due begins to allocate: the interval grows by itself. */
UNIT_TEST(what_is_due_too_often_raises_the_interval)
{
	struct guest guest = guest_open(1);

	guest.arena.control->shift_max = 20;
	for (unsigned i = 0; i < HI_THINNING_BRAKE - 1; i++)
		guest.free(allocate_often(&guest));
	CHECK_EQ(guest.arena.control->interval_shift, 0);
	for (unsigned i = 0; i < HI_THINNING_BRAKE; i++)
		guest.free(allocate_often(&guest));
	CHECK(guest.arena.control->interval_shift >= HI_THINNING_SHIFT_MIN);
	arena_drain(&guest.arena);
}

/* A finer interval takes effect once the injector has taken the thread off the fast path. */
UNIT_TEST(a_finer_interval_is_taken_up)
{
	struct guest guest = guest_open(1);

	guest.arena.control->shift_max = 30;
	guest.arena.control->interval_shift = 30;
	guest.free(guest.malloc(1)); /* claims the slot, and draws */
	arena_drain(&guest.arena);
	guest.arena.control->interval_shift = 0;
	guest.free(guest.malloc(100));
	expect_nothing(&guest);
	own_slot(&guest)->fast_owner = 0;
	guest.free(guest.malloc(100));
	CHECK_EQ(arena_expect(&guest.arena, HI_RECORD_ALLOC)->interval_shift, 0);
	arena_drain(&guest.arena);
}

/* ---- frees of blocks that are no samples -------------------------------------------------------
 */

/* All homes are sentinels. */
static struct guest guest_with_sentinels(uint64_t interval)
{
	static uint64_t no_sentinel[1024 / 64];
	struct guest guest = guest_open(interval);
	const uint32_t homes = 1u << guest.arena.state->occupancy_bits;

	memset(no_sentinel, 0, sizeof(no_sentinel));
	CHECK(homes <= 64 * sizeof(no_sentinel) / sizeof(*no_sentinel));
	guest.arena.control->shift_max = 20;
	guest.arena.control->unsampled_frees.sentinels = homes;
	guest.arena.state->no_sentinel = (uintptr_t)no_sentinel;
	memset(guest.arena.occupancy, 1, homes);
	guest.free_words->freed_size = guest.malloc_words->usable_size =
		(uintptr_t)malloc_usable_size;
	words_of((void *)guest.realloc)->freed_size = (uintptr_t)malloc_usable_size;
	return guest;
}

static uint64_t counted(const struct guest *guest, uint64_t *out_bytes)
{
	const struct hi_unsampled_frees *frees = &guest->arena.control->unsampled_frees;
	uint64_t count = 0;

	*out_bytes = 0;
	for (size_t i = 0; i < HI_SIZE_CLASSES; i++) {
		count += frees->seen[i];
		*out_bytes += frees->bytes[i];
		if (frees->count[i]) {
			CHECK(hi_size_class(frees->bytes[i] / frees->count[i]) == i);
		}
	}
	return count;
}

/* A block that has not the home of NULL, which one in 1024 addresses has. */
static void *malloc_beside_null(size_t size)
{
	void *block;

	do
		block = malloc(size);
	while ((hi_gate_hash((uintptr_t)block) & 1023) == 0);
	return block;
}

UNIT_TEST(frees_of_older_blocks_are_counted_and_those_of_samples_are_not)
{
	void *old = malloc_beside_null(1000), *older = malloc_beside_null(100),
	     *grown = malloc_beside_null(500);
	const uint64_t usable =
		malloc_usable_size(old) + malloc_usable_size(older) + malloc_usable_size(grown);
	struct guest guest = guest_with_sentinels(1);
	uint64_t bytes;

	guest.free(guest.malloc(300));
	guest.free(NULL);
	guest.free(old);
	guest.free(older);
	grown = guest.realloc(grown, 5000);
	guest.free(grown);
	CHECK_EQ(counted(&guest, &bytes), 3);
	CHECK_EQ(bytes, usable);
	CHECK_EQ(guest.arena.occupancy[0], 0); /* NULL, which is freed often, stays with the gate */
	arena_drain(&guest.arena);
}

UNIT_TEST(what_is_no_sentinel_any_more_is_counted_no_more_and_met_once)
{
	enum { BLOCKS = 64 };
	struct guest guest = guest_with_sentinels(1 << 30);
	const uint32_t homes = 1u << guest.arena.state->occupancy_bits;
	void *old[BLOCKS];
	uint64_t bytes, within = 0, left = 0;

	for (int i = 0; i < BLOCKS; i++)
		old[i] = malloc(100 + 16 * (size_t)i);
	guest.arena.control->unsampled_frees.sentinels = homes / 2;
	for (int i = 0; i < BLOCKS; i++)
		within += (hi_gate_hash((uintptr_t)old[i]) & (homes - 1)) < homes / 2;
	for (int i = 0; i < BLOCKS; i++)
		guest.free(old[i]);
	CHECK_EQ(counted(&guest, &bytes), within);
	for (uint32_t i = 0; i < homes; i++) {
		CHECK(guest.arena.occupancy[i] == 1 || i >= homes / 2);
		left += guest.arena.occupancy[i];
	}
	CHECK(left < homes && left >= homes - (BLOCKS - within));
	arena_drain(&guest.arena);
}

/*
 * Its frees stay with the gate, those of samples do not; and none of it changes what is counted of
 * the other.
 */
UNIT_TEST(an_allocator_that_is_not_asked_meets_no_sentinel)
{
	static uint8_t unasked[1024];
	void *old = malloc(100);
	struct guest guest = guest_with_sentinels(1);
	const uint32_t homes = 1u << guest.arena.state->occupancy_bits;
	uint64_t bytes;
	void *sampled;

	CHECK(homes <= sizeof(unasked));
	memset(unasked, 0, sizeof(unasked));
	guest.arena.state->unasked_occupancy = guest.free_words->occupancy = (uintptr_t)unasked;
	guest.free_words->freed_size = 0;
	guest.arena.control->unsampled_frees.sentinels = 0; /* the hook would take them away */
	guest.free(old);
	for (uint32_t i = 0; i < homes; i++)
		CHECK_EQ(guest.arena.occupancy[i], 1);
	sampled = guest.malloc(100);
	CHECK(arena_expect(&guest.arena, HI_RECORD_ALLOC)->address == (uintptr_t)sampled);
	CHECK_EQ(unasked[hi_gate_hash((uintptr_t)sampled) & (homes - 1)], 1);
	guest.free(sampled);
	CHECK(arena_expect(&guest.arena, HI_RECORD_FREE)->address == (uintptr_t)sampled);
	for (uint32_t i = 0; i < homes; i++) {
		CHECK_EQ(unasked[i], 0);
		CHECK_EQ(guest.arena.occupancy[i], 1);
	}
	CHECK_EQ(counted(&guest, &bytes), 0);
}

UNIT_TEST(many_frees_halve_the_sentinels)
{
	struct guest guest = guest_with_sentinels(1 << 30);
	struct hi_unsampled_frees *frees = &guest.arena.control->unsampled_frees;
	uint64_t bytes;

	frees->sentinels = 2 * HI_SENTINELS_MIN; /* of which this arena has only some */
	for (unsigned i = 0; i < HI_SENTINEL_BRAKE; i++)
		guest.free(malloc(64));
	CHECK_EQ(counted(&guest, &bytes), HI_SENTINEL_BRAKE);
	CHECK_EQ(frees->sentinels, HI_SENTINELS_MIN);
	for (unsigned i = 0; i < HI_SENTINEL_BRAKE; i++)
		guest.free(malloc(64));
	CHECK_EQ(frees->sentinels, HI_SENTINELS_MIN);
	arena_drain(&guest.arena);
}

/* ---- counting by the gate -------------------------------------------------------------------- */

UNIT_TEST(gate_counts_and_the_crossing_call_is_the_sample)
{
	struct guest guest = guest_open(1 << 20);

	guest.free(guest.malloc(1)); /* claims the slot */
	arena_drain(&guest.arena);
	CHECK_EQ(own_slot(&guest)->fast_owner, arch_thread_pointer());
	set_countdown(&guest, 1000);
	void *first = guest.malloc(600), *second = guest.calloc(3, 100);
	CHECK_EQ(own_slot(&guest)->countdown, 100);
	expect_nothing(&guest);
	void *third = guest.malloc(100); /* 100 - 100 <= 0 */
	expect_alloc(&guest, third, 100, HI_FN_MALLOC);
	CHECK(own_slot(&guest)->countdown > 0);
	set_countdown(&guest, FAR_AWAY);
	third = guest.realloc(third, 200); /* a sampled block: straight to the hook, which counts */
	arena_expect(&guest.arena, HI_RECORD_FREE);
	CHECK_EQ(own_slot(&guest)->countdown, FAR_AWAY - 200);
	own_slot(&guest)->cycles = 0;
	/* no sample any more: the gate counts, and nobody calls the hook */
	third = guest.realloc(third, 300);
	CHECK_EQ(own_slot(&guest)->countdown, FAR_AWAY - 500);
	CHECK_EQ(own_slot(&guest)->cycles, 0);
	expect_nothing(&guest);
	guest.free(first);
	guest.free(second);
	guest.free(third);
	expect_nothing(&guest);
	arena_check_quiet(&guest.arena);
}

static void *any_malloc(size_t size)
{
	(void)size;
	return NULL;
}

UNIT_TEST(absurd_sizes_do_not_lead_the_countdown_astray)
{
	static const size_t absurd[] = {SIZE_MAX, SIZE_MAX / 4 * 3, SIZE_MAX / 2 + 1, SIZE_MAX / 2,
					SIZE_MAX / 4 + 1};
	struct guest guest = guest_open(1 << 10);

	guest.free(guest.malloc(1));
	arena_drain(&guest.arena);
	guest.malloc_words->original = (uintptr_t)any_malloc;
	for (unsigned i = 0; i < sizeof(absurd) / sizeof(absurd[0]); i++) {
		guest.malloc(absurd[i]);
		CHECK(own_slot(&guest)->countdown > 0 && own_slot(&guest)->countdown < 1 << 20);
	}
	CHECK(!guest.calloc(SIZE_MAX, 2)); /* -2 in the gate's arithmetic */
	CHECK(own_slot(&guest)->countdown > 0 && own_slot(&guest)->countdown < 1 << 20);
}

UNIT_TEST(sampling_is_unbiased_through_the_gate)
{
	enum { CALLS = 200000, SIZE = 1000, INTERVAL = 65536 };
	struct guest guest = guest_open(INTERVAL);
	double p = -expm1(-(double)SIZE / INTERVAL);

	for (int i = 0; i < CALLS; i++) {
		guest.free(guest.malloc(SIZE));
		if (i % 1000 == 0)
			arena_drain(&guest.arena);
	}
	arena_drain(&guest.arena);
	CHECK(fabs((double)arena_allocs(&guest.arena) - CALLS * p) < 7 * sqrt(CALLS * p));
	CHECK_EQ(guest.arena.record_count[HI_RECORD_FREE], arena_allocs(&guest.arena));
	arena_check_quiet(&guest.arena);
}

UNIT_MAIN()
