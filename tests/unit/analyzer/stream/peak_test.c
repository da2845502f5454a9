/* SPDX-License-Identifier: MIT */
/* peak_test.c - the most that is in use at once, against a count of all blocks at each moment. */
#include "unit.h"

#include <math.h>

#include "estimate.h"
#include "peak.h"

UNIT_TEST(what_is_freed_makes_room)
{
	struct peak peak = {0};

	peak_allocated(&peak, 10, 100);
	peak_allocated(&peak, 20, 50);
	peak_freed(&peak, 100);
	peak_allocated(&peak, 30, 99);
	CHECK(peak.bytes == 149 && peak.most == 150 && peak.most_ns == 20);
	peak_allocated(&peak, 40, 2);
	CHECK(peak.most == 151 && peak.most_ns == 40);
}

/* Each block is told once, when it is allocated, with the time at which it goes. */
UNIT_TEST(frees_that_are_told_beforehand_count_in_their_time)
{
	enum { BLOCKS = 600, LIVES_MAX = 5000 };
	uint64_t born[BLOCKS], dies[BLOCKS], size[BLOCKS], state = 7, time_ns = 0, most = 0,
							   most_ns = 0;
	struct peak peak = {0};

	for (size_t i = 0; i < BLOCKS; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		time_ns += state >> 33 & 15;
		born[i] = time_ns;
		dies[i] = time_ns + (state >> 37) % LIVES_MAX;
		size[i] = 1 + (state >> 50) % 1000;
		peak_passed(&peak, born[i], dies[i], (double)size[i]);
	}
	for (size_t i = 0; i < BLOCKS; i++) {
		uint64_t sum = size[i]; /* its own counts even if it dies at once */

		for (size_t k = 0; k < i; k++)
			sum += dies[k] > born[i] ? size[k] : 0;
		if (sum > most) {
			most = sum;
			most_ns = born[i];
		}
	}
	CHECK_EQ((uint64_t)peak.most, most);
	CHECK_EQ(peak.most_ns, most_ns);
	peak_settle(&peak);
	CHECK(peak.bytes == 0 && peak.pending_count == 0);
}

/* Streams of others may tell more frees beforehand than are kept in mind. */
UNIT_TEST(too_many_of_them_are_no_harm)
{
	struct peak peak = {0};

	for (uint64_t i = 0; i < 3 * PEAK_PENDING; i++)
		peak_passed(&peak, i, UINT64_MAX - i, 1);
	CHECK(peak.most == PEAK_PENDING + 1);
	peak_settle(&peak);
	/* the clock of another CPU: no earlier than what was told before */
	peak_allocated(&peak, 5, 10);
	CHECK(peak.bytes == 10 && peak.now_ns == 3 * PEAK_PENDING - 1);
}

UNIT_TEST(samples_stand_for_more)
{
	struct peak peak = {0};

	CHECK(peak_weight(&peak, 100, 1) == 100);
	CHECK(peak_weight(&peak, 0, 1000) == 0);
	for (int round = 0; round < 2; round++) { /* the second finds some of them known */
		for (uint64_t bytes = 1; bytes < 1000; bytes++) {
			for (uint64_t interval = 500; interval < 5000; interval += 500)
				CHECK(fabs(peak_weight(&peak, bytes, interval) *
						   -expm1(-(double)bytes / (double)interval) /
						   (double)bytes -
					   1) < 1e-9);
		}
	}
}

/* ---- how much too high the peak of samples is ------------------------------------------------ */

static uint64_t random_state;

static double random_unit(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return ((double)(random_state >> 11) + 0.5) * 0x1p-53;
}

/*
 * Of a cache of so many blocks that is filled, and then replaced so often, block by block at
 * random: the peak, as a share of what there was.
 */
static double peak_of_cache(size_t blocks, size_t times, double share)
{
	bool *is_sampled = calloc(blocks, sizeof(*is_sampled));
	struct peak peak = {0};

	CHECK(is_sampled);
	for (size_t i = 0; i < blocks * (1 + times); i++) {
		const size_t at = i < blocks ? i : (size_t)(random_unit() * (double)blocks);

		if (is_sampled[at])
			peak_freed(&peak, 1 / share);
		is_sampled[at] = random_unit() < share;
		if (is_sampled[at])
			peak_allocated(&peak, i, 1 / share);
	}
	free(is_sampled);
	return peak.most / (double)blocks;
}

/* BIAS=1 prints the figures of docs/sampling.md. */
UNIT_TEST(the_peak_is_too_high_where_few_samples_are_replaced_often)
{
	enum { RUNS = 20 };
	double mean[3][3] = {{0}};

	for (size_t i = 0; i < 3; i++) {
		const size_t samples = i == 0 ? 10 : i == 1 ? 100 : 1000;

		for (size_t k = 0; k < 3; k++) {
			const size_t times = k == 0 ? 0 : k == 1 ? 10 : 100;

			for (size_t run = 0; run < RUNS; run++)
				mean[i][k] += peak_of_cache(samples * 10, times, 0.1) / RUNS;
			if (getenv("BIAS"))
				printf("%zu samples at once, replaced %zu times: %.0f %% of what "
				       "there was\n",
				       samples, times, 100 * mean[i][k]);
		}
		CHECK(mean[i][0] < mean[i][1] && mean[i][1] < mean[i][2]);
	}
	CHECK(mean[2][0] > 0.97 && mean[2][0] < 1.03);
	CHECK(mean[1][2] > 1.15 && mean[1][2] < 1.6);
	CHECK(mean[2][2] > 1.03 && mean[2][2] < 1.2);
}

UNIT_MAIN()
