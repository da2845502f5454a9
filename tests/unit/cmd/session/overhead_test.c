/* SPDX-License-Identifier: MIT */
/*
 * overhead_test.c - simulated programs under a budget: what the payload takes comes to rest below
 * it, frequent places are thinned, and rare ones are not.
 */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "hi_stream.h"
#include "overhead.h"

#define BUDGET_PPM 10000u /* 1 % */
#define STEP_S 0.25
/* what a record and what is due cost in the simulated payload */
#define RECORD_NS 3000.0
#define DUE_NS 200.0
#define PLACES_MAX 64

/* So many allocations of this size a second, at a key of their own. */
struct place {
	double per_second, size;
	double recorded; /* in the last step, per second */
};

struct world {
	struct overhead overhead;
	struct hi_thinning thinning;
	struct overhead_figures now;
	uint32_t shift;
	double cpu, own; /* shares of a core that the program and heapinject use */
	struct place place[PLACES_MAX];
	size_t places;
	double payload; /* nanoseconds per second, in the last step */
};

static struct world world_open(uint32_t budget_ppm, uint64_t interval, uint32_t shift, double cpu)
{
	struct world world = {.shift = shift, .cpu = cpu};

	overhead_open(&world.overhead, budget_ppm, interval, shift, 40);
	return world;
}

static void add_place(struct world *world, double per_second, double size)
{
	world->place[world->places++] = (struct place){.per_second = per_second, .size = size};
}

/* A step of a quarter of a second. */
static bool step(struct world *world)
{
	double cost = 0, records = 0;

	for (size_t i = 0; i < world->places; i++) {
		struct place *place = &world->place[i];
		const double interval = (double)(world->overhead.interval << world->shift);
		const double p = interval <= 1 ? 1 : -expm1(-place->size / interval);
		const double due = place->per_second * p * STEP_S;

		place->recorded = due / (double)(1ull << world->thinning.shift[i]) / STEP_S;
		world->thinning.due[i] = (uint32_t)lround(due);
		cost += due * DUE_NS + place->recorded * STEP_S * RECORD_NS;
		records += place->recorded * STEP_S;
	}
	world->payload = cost / STEP_S;
	world->now.time_ns += (uint64_t)(STEP_S * 1e9);
	world->now.target_ns += (uint64_t)(STEP_S * world->cpu * 1e9);
	world->now.own_ns += (uint64_t)(STEP_S * world->own * 1e9);
	world->now.payload_ns += (uint64_t)cost;
	world->now.samples += (uint64_t)lround(records);
	return overhead_step(&world->overhead, &world->now, &world->thinning, &world->shift);
}

/* Seconds until it has settled; then the mean of what the payload takes, per second. */
static double settled(struct world *world)
{
	double sum = 0;

	for (int i = 0; i < 120; i++)
		step(world);
	for (int i = 0; i < 40; i++) {
		step(world);
		sum += world->payload / 40;
	}
	return sum;
}

UNIT_TEST(the_budget_is_a_share_of_its_cpu_time_or_a_quarter_of_that_of_a_core)
{
	struct world busy = world_open(BUDGET_PPM, 1, 15, 2),
		     idle = world_open(BUDGET_PPM, 1, 15, 0);

	for (int i = 0; i < 200; i++) {
		step(&busy);
		step(&idle);
	}
	CHECK(fabs(overhead_budget(&busy.overhead) / 20e6 - 1) < 0.01);
	CHECK(fabs(overhead_budget(&idle.overhead) / 2.5e6 - 1) < 0.01);
}

UNIT_TEST(without_a_budget_nothing_changes)
{
	struct world world = world_open(0, 65536, 0, 1);

	add_place(&world, 1e6, 1000);
	for (int i = 0; i < 100; i++)
		CHECK(!step(&world));
	CHECK_EQ(world.shift, 0);
	CHECK_EQ(world.thinning.shift[0], 0);
}

/* From an idle program to one that does nothing but allocate. */
UNIT_TEST(the_budget_is_kept)
{
	static const struct {
		double cpu, per_second, size;
	} programs[] = {{0.01, 100, 100},   {0.04, 1300, 1024}, {0.2, 200000, 2500},
			{1, 2000000, 64},   {1, 20000000, 32},  {4, 10000000, 300},
			{0.02, 10, 1 << 20}};

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		struct world world = world_open(BUDGET_PPM, 1, 15, programs[i].cpu);

		add_place(&world, programs[i].per_second, programs[i].size);
		add_place(&world, programs[i].per_second / 50, 200);
		add_place(&world, 5, 64);
		const double payload = settled(&world), budget = overhead_budget(&world.overhead);

		printf("# %g/s of %g bytes: %.2f of %.2f ms/s, interval 1 << %u\n",
		       programs[i].per_second, programs[i].size, payload / 1e6, budget / 1e6,
		       world.shift);
		CHECK(payload < 1.1 * budget);
	}
}

UNIT_TEST(a_program_that_hardly_allocates_is_counted_exactly)
{
	struct world world = world_open(BUDGET_PPM, 1, 15, 0.01);

	add_place(&world, 50, 100);
	add_place(&world, 20, 5000);
	(void)settled(&world);
	CHECK_EQ(world.shift, 0);
	CHECK_EQ(world.thinning.shift[0], 0);
	CHECK_EQ(world.thinning.shift[1], 0);
}

/* A leak of 60 KB/s below 500 MB/s that are freed again: each of its samples that is due is kept.
 */
UNIT_TEST(a_rare_place_beside_a_frequent_one_is_not_thinned)
{
	struct world world = world_open(BUDGET_PPM, 1, 15, 0.5);

	add_place(&world, 200000, 2500);
	add_place(&world, 60, 1000);
	(void)settled(&world);
	CHECK(world.thinning.shift[0] >= 2);
	CHECK_EQ(world.thinning.shift[1], 0);
	CHECK(world.place[1].recorded * 60 > 30); /* in a minute */
}

UNIT_TEST(a_mean_that_cannot_be_thinned_is_not_used)
{
	struct world world = world_open(BUDGET_PPM, 1, 15, 0.1);

	for (double per_second = 10; per_second < 1e7; per_second *= 1.3) {
		world.places = 0;
		add_place(&world, per_second, 40);
		for (int i = 0; i < 20; i++) {
			step(&world);
			CHECK(world.shift == 0 || world.shift >= HI_THINNING_SHIFT_MIN);
		}
	}
}

/* Small blocks, of which many times more are due where every allocation is. */
UNIT_TEST(it_does_not_swing_between_exact_and_nearly_so)
{
	for (double per_second = 1000; per_second < 50000; per_second *= 1.2) {
		struct world world = world_open(BUDGET_PPM, 1, 15, 0);
		unsigned changes = 0;

		add_place(&world, per_second, 16);
		(void)settled(&world);
		for (int i = 0; i < 100; i++) {
			const uint32_t before = world.shift;

			step(&world);
			changes += world.shift != before;
		}
		if (changes > 1)
			UNIT_FAIL("%.0f/s: %u changes", per_second, changes);
	}
}

/* So many are live that none may be added. */
UNIT_TEST(without_room_all_is_thinned)
{
	struct world world = world_open(BUDGET_PPM, 1, 15, 0);

	add_place(&world, 1000, 100);
	world.now.live = 1u << 30;
	(void)settled(&world);
	CHECK(world.place[0].recorded < 0.01);
}

/* Where a number is asked for, it is never finer than that. */
UNIT_TEST(it_is_never_finer_than_asked_for)
{
	struct world world = world_open(BUDGET_PPM, 65536, 0, 1);

	add_place(&world, 10, 100);
	(void)settled(&world);
	CHECK_EQ(world.shift, 0);
	add_place(&world, 20000000, 1000);
	(void)settled(&world);
	CHECK(world.shift > 0);
	world.places = 1;
	(void)settled(&world);
	CHECK_EQ(world.shift, 0);
}

UNIT_TEST(what_heapinject_itself_uses_counts_but_leaves_half)
{
	struct world alone = world_open(BUDGET_PPM, 1, 15, 0), beside = alone;

	beside.own = 0.1;
	add_place(&alone, 1000000, 100);
	add_place(&beside, 1000000, 100);
	const double without = settled(&alone), with = settled(&beside);

	CHECK(with < 0.75 * without && with > 0.25 * without);
}

/* The more samples are live, the fewer are added. */
UNIT_TEST(live_samples_have_a_bound)
{
	struct world world = world_open(BUDGET_PPM, 1, 15, 1);
	double live = 0;

	add_place(&world, 100000, 100);
	for (int i = 0; i < 4 * 3600; i++) {
		step(&world);
		live += world.place[0].recorded * STEP_S;
		world.now.live = (uint64_t)live;
	}
	printf("# %.0f live samples after an hour\n", live);
	CHECK(live > 50000 && live < 200000);
}

/*
 * How much may have escaped: of the place that is thinned, and not of the one that is not; also
 * what the payload thinned by itself, and what was due after the last step.
 */
UNIT_TEST(what_is_due_while_it_is_thinned_is_noted)
{
	struct world world = world_open(BUDGET_PPM, 1, 15, 0.5);

	add_place(&world, 200000, 2500);
	add_place(&world, 60, 1000);
	(void)settled(&world);
	const struct thinned_due *thinned = &world.overhead.thinned;
	const uint32_t shift = world.shift + world.thinning.shift[0];

	CHECK(thinned_due_grain(thinned, 0, 1, 2500) >= 1ull << shift);
	CHECK_EQ(thinned_due_grain(thinned, 1, 1, 1000), 0);
	memset(world.thinning.due, 0, sizeof(world.thinning.due));
	world.thinning.shift[1] = 0;
	world.thinning.due[1] = HI_THINNING_FREE - 1;
	overhead_end(&world.overhead, &world.thinning, world.shift);
	CHECK_EQ(thinned_due_grain(thinned, 1, 1, 1000), 0);
	world.thinning.due[1] = 3 * HI_THINNING_FREE;
	overhead_end(&world.overhead, &world.thinning, world.shift);
	CHECK(thinned->at[1][world.shift].count == 0);
	CHECK(thinned->at[1][world.shift + 1].count == HI_THINNING_FREE);
	CHECK(thinned->at[1][world.shift + 2].count == HI_THINNING_FREE + 1);
	CHECK_EQ(world.thinning.due[1], 0);
}

/* Where the user has chosen the interval: what the payload thins by itself is noted. */
UNIT_TEST(a_chosen_interval_is_kept)
{
	struct world world = world_open(BUDGET_PPM, 1, 15, 0.5);

	add_place(&world, 200000, 2500);
	(void)settled(&world);
	CHECK(world.thinning.shift[0] > 0);
	memset(&world.overhead.thinned, 0, sizeof(world.overhead.thinned));
	memset(world.thinning.shift, 0, sizeof(world.thinning.shift));
	world.thinning.shift[2] = 3;
	world.thinning.due[0] = 3 * HI_THINNING_FREE;
	world.now.time_ns += 250000000;
	overhead_hold(&world.overhead, &world.now, &world.thinning, 5);
	CHECK_EQ(world.overhead.interval_shift, 5);
	CHECK_EQ(world.thinning.due[0], 0);
	CHECK_EQ(world.thinning.shift[2], 0);
	CHECK(thinned_due_grain(&world.overhead.thinned, 0, 1, 2500) > 0);
	world.now.time_ns += 250000000;
	overhead_hold(&world.overhead, &world.now, &world.thinning, UINT32_MAX); /* hostile */
	CHECK_EQ(world.overhead.interval_shift, 5);
	CHECK(overhead_step(&world.overhead, &world.now, &world.thinning, &world.shift) == false);
}

/* The target can write what it likes to what is shared. */
UNIT_TEST(hostile_figures_stay_within_bounds)
{
	struct world world = world_open(BUDGET_PPM, 1, 15, 1);

	for (int i = 0; i < 100; i++) {
		memset(world.thinning.due, i % 3 ? 0xff : 0, sizeof(world.thinning.due));
		world.now.time_ns += 250000000;
		world.now.payload_ns = i % 2 ? UINT64_MAX : 0;
		world.now.samples = i % 5 ? 0 : UINT64_MAX;
		memset(world.thinning.shift, i % 11 ? 0 : 0xff, sizeof(world.thinning.shift));
		world.shift = i % 7 ? world.shift : UINT32_MAX;
		overhead_step(&world.overhead, &world.now, &world.thinning, &world.shift);
		CHECK(world.shift <= 40);
		for (size_t key = 0; key < HI_THINNING_KEYS; key++)
			CHECK(world.thinning.shift[key] <= HI_INTERVAL_SHIFT_MAX);
	}
}

UNIT_MAIN()
