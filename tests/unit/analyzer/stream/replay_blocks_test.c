/* SPDX-License-Identifier: MIT */
/* replay_blocks_test.c - blocks that come and go: what is in use, how long, and what it weighs. */
#include <math.h>

#include "estimate.h"
#include "replayed.h"

UNIT_TEST(allocations_and_frees)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_alloc(file, 0x7000, 48, site_a, 2);
	stream_alloc(file, 0x7100, 48, site_a, 2);
	stream_alloc(file, 0x7200, 64, site_a, 2);
	stream_alloc(file, 0x7300, 48, site_b, 2);
	stream_free(file, 0x7100);
	stream_free(file, 0x9999); /* its allocation was not sampled */
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.row_count, 3);
	CHECK_EQ(profile.stack_count, 2);
	CHECK_EQ(profile.row[0].alloc_count, 2);
	CHECK_EQ(profile.row[0].alloc_bytes, 96);
	CHECK_EQ(profile.row[0].inuse_count, 1);
	CHECK_EQ(profile.row[0].inuse_bytes, 48);
	CHECK_EQ(profile.row[1].inuse_bytes, 64);
	CHECK_EQ(profile.meta.samples, 4);
	CHECK_EQ(profile.meta.frees, 1);
	CHECK_EQ(profile.meta.stacks_complete, 4);
	CHECK(estimate_total(&profile, INUSE_SPACE).value == 48 + 64 + 48);
	profile_close(&profile);
}

/* Each block counts once, and of a large one all that it covers. */
UNIT_TEST(where_the_live_samples_lie)
{
	const uint64_t piece = 64u << 10;
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_alloc(file, piece, 16, site_a, 2);
	stream_alloc(file, 2 * piece - 16, 16, site_a, 2);
	stream_alloc(file, 100 * piece, 16, site_a, 2);
	stream_free(file, 100 * piece);
	stream_alloc(file, 200 * piece + 1, 3 * piece, site_b, 2);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.meta.memory.spread, 5 * piece); /* the first two share one */
	profile_close(&profile);
}

UNIT_TEST(a_missed_free_is_implied)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_alloc(file, 0x7000, 48, site_a, 2);
	stream_alloc(file, 0x7000, 64, site_b, 2);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.row[0].inuse_count, 0);
	CHECK_EQ(profile.row[0].inuse_bytes, 0);
	CHECK_EQ(profile.row[1].inuse_bytes, 64);
	CHECK_EQ(profile.meta.missed_frees, 1);
	CHECK_EQ(profile.meta.frees, 0);
	profile_close(&profile);
}

UNIT_TEST(a_failed_realloc_gives_the_block_back)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_alloc(file, 0x7000, 48, site_a, 2);
	stream_alloc(file, 0x7100, 32, site_b, 2);
	stream_free(file, 0x7000);
	stream_free(file, 0x7100);
	stream_unfree(file, 0x7000);
	stream_unfree(file, 0x7000); /* once only */
	stream_unfree(file, 0x8888);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.row[0].inuse_count, 1);
	CHECK_EQ(profile.row[0].inuse_bytes, 48);
	CHECK_EQ(profile.row[1].inuse_count, 0);
	CHECK_EQ(profile.meta.frees, 1);
	CHECK_EQ(profile.row[0].alloc_count, 1);
	profile_close(&profile);
}

UNIT_TEST(no_block_comes_back_to_where_another_lives)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_alloc(file, 0x7000, 48, site_a, 2);
	stream_alloc(file, 0x7000, 32, site_b, 2);
	stream_unfree(file, 0x7000);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.row[0].inuse_count, 0);
	CHECK_EQ(profile.row[1].inuse_count, 1);
	CHECK_EQ(profile.meta.frees, 0);
	profile_close(&profile);
}

/* Many blocks in few places: the table grows, and closes its holes. */
UNIT_TEST(live_blocks_survive_a_shuffle)
{
	enum { BLOCKS = 5000, ROUNDS = 40000 };
	static bool live[BLOCKS];
	struct profile profile;
	FILE *file = stream_begin(1);
	uint64_t state = 1, expected = 0;

	for (int i = 0; i < ROUNDS; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		const size_t at = (state >> 33) % BLOCKS;

		if (live[at])
			stream_free(file, 0x10000 + 16 * at);
		else
			stream_alloc(file, 0x10000 + 16 * at, at + 1, site_a, 2);
		live[at] = !live[at];
	}
	for (size_t at = 0; at < BLOCKS; at++)
		expected += live[at] ? at + 1 : 0;
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ((uint64_t)estimate_total(&profile, INUSE_SPACE).value, expected);
	profile_close(&profile);
}

/*
 * What a sample stands for follows from the interval with which it was drawn, whatever the records
 * around it say of others.
 */
UNIT_TEST(each_sample_is_weighed_by_its_own_interval)
{
	struct profile profile;
	FILE *file = stream_begin(4096);

	for (uint64_t i = 0; i < 100; i++)
		stream_alloc(file, 0x7000 + i, 100, site_a, 2);
	stream_interval(file, 16384);
	for (uint64_t i = 100; i < 500; i++) {
		stream_drawn = i < 150 ? 4096 : 16384; /* drawn before, run out later */
		stream_alloc(file, 0x7000 + i, 100, site_a, 2);
	}
	for (uint64_t i = 300; i < 500; i++)
		stream_free(file, 0x7000 + i);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);

	const double fine = estimate_row(150, 15000, 4096, ALLOC_OBJECTS).value,
		     coarse = estimate_row(350, 35000, 16384, ALLOC_OBJECTS).value;
	CHECK(fabs(estimate_total(&profile, ALLOC_OBJECTS).value - fine - coarse) < 1e-6);
	CHECK(fabs(estimate_total(&profile, INUSE_OBJECTS).value - fine - coarse * 150 / 350) <
	      1e-6);
	CHECK(fabs(estimate_total(&profile, ALLOC_OBJECTS).variance -
		   estimate_row(150, 15000, 4096, ALLOC_OBJECTS).variance -
		   estimate_row(350, 35000, 16384, ALLOC_OBJECTS).variance) < 1e-3);
	CHECK_EQ(profile.meta.samples, 500);
	CHECK_EQ(profile.meta.change_count, 1);
	CHECK_EQ(profile.meta.change[0].interval, 16384);
	profile_close(&profile);
}

/* Allocated at 1000 ns, freed at 2000, the end at 5000. */
UNIT_TEST(ages_and_waste_follow_the_blocks)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_alloc(file, 0x7000, 48, site_a, 2);
	stream_alloc(file, 0x7100, 48, site_a, 2);
	stream_alloc(file, 0x7200, 48, site_a, 2);
	stream_free(file, 0x7100);
	stream_free(file, 0x7200);
	stream_unfree(file, 0x7200);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);

	const struct estimate inuse = estimate_total(&profile, INUSE_SPACE),
			      allocated = estimate_total(&profile, ALLOC_SPACE);
	CHECK(inuse.slack == 16 && allocated.slack == 24);
	CHECK(inuse.live == 2 && inuse.age_ns == 2 * 4000);
	CHECK(inuse.freed == 1 && inuse.lifetime_ns == 1000);
	CHECK_EQ(profile.meta.slack_samples, 3);
	profile_close(&profile);
}

static struct hi_stream_event an_alloc(uint64_t address, uint32_t bytes, uint32_t after_ns,
				       uint32_t lived_ns)
{
	return (struct hi_stream_event){.what = EVENT_AT(address, EVENT_ALLOC),
					.after_ns = after_ns,
					.thread = 1,
					.bytes = bytes,
					.stack = 1,
					.lived_ns = lived_ns};
}

/* A block whose free is told with it is in use until then, and no longer. */
UNIT_TEST(the_peak_is_the_most_at_once)
{
	const struct hi_stream_event event[] = {
		an_alloc(0x1000, 100, 0, HI_STREAM_LIVES),
		an_alloc(0x2000, 50, 100, 300),
		an_alloc(0x3000, 70, 200, HI_STREAM_LIVES),
		an_alloc(0x4000, 49, 450, HI_STREAM_LIVES),
	};
	const struct hi_stream_event late = an_alloc(0x6000, 60, 450, 3000000);
	struct profile profile;

	for (int round = 0; round < 3; round++) {
		FILE *file = stream_begin(1);

		stream_stack(file, 1, site_a, 2);
		stream_events(file, event, sizeof(event));
		/* in use again, as if it had never been freed; the other's free was missed */
		if (round == 1) {
			stream_free(file, 0x1000);
			stream_unfree(file, 0x1000);
			stream_alloc(file, 0x4000, 51, site_b, 2);
		} else if (round == 2) {
			stream_free(file, 0x1000);
			/* what its record tells is over with it, whatever the time */
			stream_events(file, &late, sizeof(late));
			stream_alloc(file, 0x5000, 101, site_b, 2);
		}
		stream_end(file);
		CHECK_EQ(replayed(file, &profile), 0);
		CHECK_EQ(profile.meta.peak_inuse_bytes, round == 1 ? 221 : 220);
		CHECK_EQ(profile.meta.peak_ns, round == 1 ? 1450 : 1200);
		profile_close(&profile);
	}
}

UNIT_TEST(the_peak_is_of_what_samples_stand_for)
{
	struct profile profile;
	FILE *file = stream_begin(1000);

	for (uint64_t i = 0; i < 10; i++)
		stream_alloc(file, 0x1000 + 16 * i, 100, site_a, 2);
	stream_drawn = 5000;
	stream_alloc(file, 0x7000, 200, site_b, 2);
	for (uint64_t i = 0; i < 10; i++)
		stream_free(file, 0x1000 + 16 * i);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.meta.peak_inuse_bytes,
		 estimate_round(estimate_row(10, 1000, 1000, INUSE_SPACE).value +
				estimate_row(1, 200, 5000, INUSE_SPACE).value));
	CHECK_EQ(profile.meta.peak_ns, 1000);
	profile_close(&profile);
}

UNIT_MAIN()
