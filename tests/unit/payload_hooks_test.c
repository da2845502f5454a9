/* SPDX-License-Identifier: MIT */
/*
 * payload_hooks_test.c - what each hooked function records, from end to end: calls through real gate entries, to the real allocator or to one that
 * misbehaves on purpose.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>

#include "payload_guest.h"

/* Makes the next byte allocated by this thread the sampled one, or one that is out of reach. */
static void set_countdown(struct guest *guest, int64_t countdown)
{
	own_slot(guest)->countdown = countdown;
}

#define FAR_AWAY (1ll << 40)

static struct hi_gate_words *words_of(void *entry)
{
	return (struct hi_gate_words *)(void *)((uint8_t *)entry + HI_GATE_BYTES);
}

/* ---- plain allocation ----------------------------------------------------------------------------------------------------- */

UNIT_TEST(every_allocation_is_recorded_at_interval_one)
{
	struct guest guest = guest_open(1);
	void *block = guest.malloc(100), *zeroed = guest.calloc(7, 9), *aligned = guest.aligned_alloc(64, 128), *other = NULL;

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

__attribute__((noinline)) static void *call_malloc(struct guest *guest, uint64_t *out_return_address)
{
	void *block = guest->malloc(10);

	*out_return_address = (uintptr_t)__builtin_return_address(0);
	return block;
}

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

UNIT_TEST(first_frame_is_the_caller)
{
	struct guest guest = guest_open(1);
	uint64_t above;
	void *block = call_malloc(&guest, &above);
	const struct hi_record_alloc *record = arena_expect(&guest.arena, HI_RECORD_ALLOC);

	CHECK_EQ(record->address, (uintptr_t)block);
	CHECK(record->frame[0] > (uintptr_t)call_malloc && record->frame[0] < (uintptr_t)call_malloc + 1024);
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

/* ---- what a record says beside ------------------------------------------------------------------------------------------ */

static size_t tell(void *block)
{
	return *(const uint64_t *)block; /* what the block holds */
}

static uint32_t slack_told(struct guest *guest, uint64_t usable)
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

	CHECK_EQ(slack_told(&guest, 0), HI_SLACK_UNKNOWN); /* nobody to ask */
	words_of((void *)guest.realloc)->usable_size = (uintptr_t)tell;
	CHECK_EQ(slack_told(&guest, 100), 0);
	CHECK_EQ(slack_told(&guest, 112), 12);
	CHECK_EQ(slack_told(&guest, 99), HI_SLACK_UNKNOWN); /* it knows nothing of this block */
	CHECK_EQ(slack_told(&guest, 100 + (1ull << 32)), HI_SLACK_UNKNOWN - 1);

	void *blocks[4] = {0};
	guest.malloc_words->usable_size = words_of((void *)guest.calloc)->usable_size = (uintptr_t)malloc_usable_size;
	words_of((void *)guest.aligned_alloc)->usable_size = words_of((void *)guest.posix_memalign)->usable_size = (uintptr_t)malloc_usable_size;
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

/* A sample stands for what its own countdown was drawn with, whatever the mean has become meanwhile. */
UNIT_TEST(samples_carry_the_interval_of_their_countdown)
{
	struct guest guest = guest_open(1 << 10);

	guest.free(guest.malloc(1)); /* claims the slot, and draws */
	arena_drain(&guest.arena);
	guest.arena.control->doublings = 5;
	set_countdown(&guest, 50);
	guest.free(guest.malloc(100));
	CHECK_EQ(arena_expect(&guest.arena, HI_RECORD_ALLOC)->doublings, 0);
	arena_drain(&guest.arena);
	guest.arena.control->doublings = 7;
	set_countdown(&guest, 50);
	guest.free(guest.malloc(100));
	CHECK_EQ(arena_expect(&guest.arena, HI_RECORD_ALLOC)->doublings, 5);
	arena_drain(&guest.arena);
}

/* What is sampled exactly for a while and then more seldom: from the first doubling on the gate counts. */
UNIT_TEST(exact_mode_ends_with_the_first_doubling)
{
	struct guest guest = guest_open(1);

	guest.free(guest.malloc(1));
	arena_drain(&guest.arena);
	guest.arena.control->doublings = 20;
	guest.free(guest.malloc(16));
	CHECK_EQ(arena_expect(&guest.arena, HI_RECORD_ALLOC)->doublings, 0);
	arena_drain(&guest.arena);
	CHECK_EQ(own_slot(&guest)->fast_owner, arch_thread_pointer());
	set_countdown(&guest, FAR_AWAY);
	guest.free(guest.malloc(16));
	expect_nothing(&guest);
}

/*
 * The mean goes up and down, and what is allocated while it is up differs from what is allocated while it is down. Samples that were drawn with one mean fall
 * into the time of the other, and weighed by that they would stand for several times too many blocks, or too few.
 */
UNIT_TEST(estimates_stay_unbiased_while_the_interval_changes)
{
	enum { BLOCKS = 1000000, PHASE = 50, SIZE = 64, INTERVAL = 1024 };
	struct guest guest = guest_open(INTERVAL);
	double estimated[2] = {0}, variance[2] = {0};

	for (unsigned i = 0; i < BLOCKS; i++) {
		const unsigned phase = i / PHASE % 2;

		guest.arena.control->doublings = phase ? 4 : 0;
		void *block = guest.malloc(SIZE);
		if (guest.arena.ring->head != guest.arena.ring->tail) {
			const double p = -expm1(-(double)SIZE / (INTERVAL << arena_expect(&guest.arena, HI_RECORD_ALLOC)->doublings));

			estimated[phase] += 1 / p;
			variance[phase] += (1 - p) / (p * p);
		}
		guest.free(block);
		arena_drain(&guest.arena);
	}
	for (int phase = 0; phase < 2; phase++) {
		printf("# %.0f of %d, standard error %.0f\n", estimated[phase], BLOCKS / 2, sqrt(variance[phase]));
		CHECK(fabs(estimated[phase] - BLOCKS / 2) < 6 * sqrt(variance[phase]));
		CHECK(sqrt(variance[phase]) < BLOCKS / 40);
	}
}

/* ---- counting by the gate -------------------------------------------------------------------------------------------------- */

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
	third = guest.realloc(third, 300); /* no sample any more: the gate counts, and nobody visits the hook */
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
	static const size_t absurd[] = {SIZE_MAX, SIZE_MAX / 4 * 3, SIZE_MAX / 2 + 1, SIZE_MAX / 2, SIZE_MAX / 4 + 1};
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

/* ---- realloc ----------------------------------------------------------------------------------------------------------------- */

UNIT_TEST(realloc_is_a_free_and_an_allocation)
{
	struct guest guest = guest_open(1);
	char *block = guest.realloc(NULL, 10), *larger;

	expect_alloc(&guest, block, 10, HI_FN_REALLOC);
	strcpy(block, "contents");
	larger = guest.realloc(block, 100000);
	CHECK_STR(larger, "contents");
	expect_free(&guest, HI_RECORD_FREE, block);
	expect_alloc(&guest, larger, 100000, HI_FN_REALLOC);
	block = guest.reallocarray(larger, 3, 7);
	expect_free(&guest, HI_RECORD_FREE, larger);
	expect_alloc(&guest, block, 21, HI_FN_REALLOCARRAY);
	guest.free(block);
	arena_drain(&guest.arena);
	arena_check_quiet(&guest.arena);
}

static void *failing_realloc(void *block, size_t size)
{
	(void)block, (void)size;
	errno = ENOMEM;
	return NULL;
}

UNIT_TEST(failed_realloc_takes_its_free_back)
{
	struct guest guest = guest_open(1);
	struct hi_gate_words *words = arena_gate(&guest.arena, HI_FN_REALLOC, hi_gate_realloc, hi_hook_realloc, failing_realloc);
	realloc_fn *fail = (realloc_fn *)arena_entry(words);
	void *block = guest.malloc(10);

	arena_expect(&guest.arena, HI_RECORD_ALLOC);
	CHECK(!fail(block, 20));
	expect_free(&guest, HI_RECORD_FREE, block);
	expect_free(&guest, HI_RECORD_UNFREE, block);
	CHECK(!fail(NULL, 20));
	expect_nothing(&guest);
	guest.free(block);
	expect_free(&guest, HI_RECORD_FREE, block);
	arena_check_quiet(&guest.arena);
}

/* Where no live set is kept: of blocks that were there before us, too. */
UNIT_TEST(every_free_is_told_where_no_live_set_is_kept)
{
	struct guest guest = guest_open(1);
	struct hi_gate_words *words = arena_gate(&guest.arena, HI_FN_REALLOC, hi_gate_realloc, hi_hook_realloc, failing_realloc);
	realloc_fn *fail = (realloc_fn *)arena_entry(words);
	void *unknown = malloc(10), *block;

	guest.arena.state->bucket_levels = 0;
	memset(guest.arena.occupancy, 255, 1ull << guest.arena.state->occupancy_bits);
	block = guest.malloc(10);
	expect_alloc(&guest, block, 10, HI_FN_MALLOC);
	CHECK(!fail(block, 20));
	expect_free(&guest, HI_RECORD_FREE, block);
	expect_free(&guest, HI_RECORD_UNFREE, block);
	guest.free(block);
	expect_free(&guest, HI_RECORD_FREE, block);
	guest.free(NULL);
	expect_nothing(&guest);
	guest.free(unknown);
	expect_free(&guest, HI_RECORD_FREE, unknown);
	expect_nothing(&guest);
	for (size_t i = 0; i < (size_t)HI_BUCKET_ENTRIES << guest.arena.state->bucket_bits; i++)
		CHECK_EQ(guest.arena.buckets[i], 0);
}

UNIT_TEST(realloc_to_nothing_frees)
{
	struct guest guest = guest_open(1);
	struct hi_gate_words *words = arena_gate(&guest.arena, HI_FN_REALLOC, hi_gate_realloc, hi_hook_realloc, failing_realloc);
	realloc_fn *freeing = (realloc_fn *)arena_entry(words);
	void *block = guest.malloc(10);

	arena_expect(&guest.arena, HI_RECORD_ALLOC);
	CHECK(!freeing(block, 0)); /* NULL for a size of 0 is no failure */
	expect_free(&guest, HI_RECORD_FREE, block);
	expect_nothing(&guest);
	arena_check_quiet(&guest.arena);
	free(block);
}

static struct guest *calling_guest;

static void *reallocarray_by_import(void *block, size_t count, size_t size)
{
	return calling_guest->realloc(block, count * size);
}

/* As libc does it. The countdown falls twice, but the second time is no chance to be a sample. */
UNIT_TEST(reallocarray_that_calls_realloc_is_one_allocation)
{
	struct guest guest = guest_open(1 << 20);
	void *block;

	calling_guest = &guest;
	words_of((void *)guest.reallocarray)->original = (uintptr_t)reallocarray_by_import;
	guest.free(guest.malloc(1)); /* claims the slot */
	arena_drain(&guest.arena);
	set_countdown(&guest, 150);
	block = guest.reallocarray(NULL, 10, 10); /* 150 - 100 > 0, and 50 - 100 is realloc's */
	expect_nothing(&guest);
	CHECK(own_slot(&guest)->countdown > 0);
	guest.free(block);
	set_countdown(&guest, 100);
	block = guest.reallocarray(NULL, 10, 10);
	expect_alloc(&guest, block, 100, HI_FN_REALLOCARRAY);
	expect_nothing(&guest);
	guest.free(block);
	arena_drain(&guest.arena);
	arena_check_quiet(&guest.arena);
}

static void *memalign_by_import(size_t alignment, size_t size)
{
	return calling_guest->aligned_alloc(alignment, size);
}

UNIT_TEST(memalign_that_calls_aligned_alloc_is_one_allocation)
{
	struct guest guest = guest_open(1 << 20);
	void *block;

	calling_guest = &guest;
	words_of((void *)guest.memalign)->original = (uintptr_t)memalign_by_import;
	guest.free(guest.malloc(1));
	arena_drain(&guest.arena);
	set_countdown(&guest, 150);
	block = guest.memalign(16, 112);
	expect_nothing(&guest);
	CHECK(own_slot(&guest)->countdown > 0);
	guest.free(block);
	set_countdown(&guest, 100);
	block = guest.memalign(16, 112);
	expect_alloc(&guest, block, 112, HI_FN_MEMALIGN);
	expect_nothing(&guest);
	guest.free(block);
	arena_drain(&guest.arena);
	arena_check_quiet(&guest.arena);
}

UNIT_TEST(overflowing_reallocarray_keeps_the_block)
{
	struct guest guest = guest_open(1);
	void *block = guest.malloc(10);

	arena_expect(&guest.arena, HI_RECORD_ALLOC);
	CHECK(!guest.reallocarray(block, SIZE_MAX / 2, 4));
	expect_free(&guest, HI_RECORD_FREE, block);
	expect_free(&guest, HI_RECORD_UNFREE, block);
	guest.free(block);
	expect_free(&guest, HI_RECORD_FREE, block);
	arena_check_quiet(&guest.arena);
}

/* ---- jemalloc's own interface --------------------------------------------------------------------------------------------------- */

static size_t seen_argument[6];

static size_t fake_xallocx(void *block, size_t size, size_t extra, int flags)
{
	(void)block;
	seen_argument[0] = size;
	seen_argument[1] = extra;
	seen_argument[2] = (size_t)flags;
	return size <= 128 ? 128 : 64;
}

UNIT_TEST(xallocx_resizes_in_place_or_not_at_all)
{
	struct guest guest = guest_open(1);
	size_t (*resize)(void *, size_t, size_t, int) =
		(size_t(*)(void *, size_t, size_t, int))arena_entry(arena_gate(&guest.arena, HI_FN_XALLOCX, hi_gate_always, hi_hook_xallocx, fake_xallocx));
	void *block = guest.malloc(64);

	arena_expect(&guest.arena, HI_RECORD_ALLOC);
	CHECK_EQ(resize(block, 100, 5, 6), 128);
	CHECK_EQ(seen_argument[0], 100);
	CHECK_EQ(seen_argument[1], 5);
	CHECK_EQ(seen_argument[2], 6);
	expect_free(&guest, HI_RECORD_FREE, block);
	expect_alloc(&guest, block, 100, HI_FN_XALLOCX);
	CHECK_EQ(resize(block, 1000, 0, 0), 64);
	expect_nothing(&guest);
	guest.free(block);
	expect_free(&guest, HI_RECORD_FREE, block);
	arena_check_quiet(&guest.arena);
}

UNIT_TEST(failed_rallocx_of_any_size_keeps_the_block)
{
	struct guest guest = guest_open(1);
	realloc_fn *fail = (realloc_fn *)arena_entry(arena_gate(&guest.arena, HI_FN_RALLOCX, hi_gate_realloc, hi_hook_rallocx, failing_realloc));
	void *block = guest.malloc(64);

	arena_expect(&guest.arena, HI_RECORD_ALLOC);
	CHECK(!fail(block, 0));
	expect_free(&guest, HI_RECORD_FREE, block);
	expect_free(&guest, HI_RECORD_UNFREE, block);
	guest.free(block);
	arena_drain(&guest.arena);
	arena_check_quiet(&guest.arena);
}

UNIT_MAIN()
