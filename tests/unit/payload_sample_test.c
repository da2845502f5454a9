/* SPDX-License-Identifier: MIT */
/* payload_sample_test.c - the sampler's distribution. Seeds are fixed, so that no run differs from another. */
#include <math.h>

#include "sample.h"
#include "unit.h"

/* SplitMix64 once more, to know which uniform number stands behind a draw. */
static uint64_t uniform(uint64_t *random)
{
	uint64_t z = *random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

UNIT_TEST(draw_is_the_exponential_of_its_uniform)
{
	static const uint64_t mean[] = {1, 7, 4096, 524288, 1ull << 32, 1ull << 50};
	uint64_t random = 42;

	for (int i = 0; i < 60000; i++) {
		uint64_t r = mean[i % 6], copy = random;
		long double expected = -logl((long double)uniform(&copy) * 0x1p-64L) * (long double)r;
		int64_t drawn = sample_draw(&random, r);

		CHECK_EQ(random, copy);
		CHECK(fabsl((long double)drawn - floorl(expected) - 1) <= 1 + 1e-9L * (long double)r);
	}
}

UNIT_TEST(mean_is_the_interval)
{
	uint64_t random = 1;
	double sum = 0;

	for (int i = 0; i < 1000000; i++)
		sum += (double)sample_draw(&random, 524288);
	CHECK(fabs(sum / 1e6 / 524288 - 1) < 0.004); /* 4 sigma */
}

UNIT_TEST(probability_is_one_minus_exp)
{
	static const double ratio[] = {0.001, 0.01, 0.1, 0.5, 1, 2, 5};
	enum { DRAWS = 400000, RATIOS = 7 };
	double hits[RATIOS] = {0};
	uint64_t random = 2;

	for (int i = 0; i < DRAWS; i++) {
		int64_t distance = sample_draw(&random, 65536);

		for (int j = 0; j < RATIOS; j++)
			hits[j] += distance <= (int64_t)(65536 * ratio[j]);
	}
	for (int j = 0; j < RATIOS; j++) {
		double p = -expm1(-floor(65536 * ratio[j]) / 65536);

		CHECK(fabs(hits[j] / DRAWS - p) < 4.5 * sqrt(p * (1 - p) / DRAWS));
	}
}

/* The integer countdown must not shift the odds of small blocks: mean 1, one byte. */
UNIT_TEST(one_byte_at_mean_one)
{
	enum { DRAWS = 400000 };
	uint64_t random = 3;
	int ones = 0;

	for (int i = 0; i < DRAWS; i++)
		ones += sample_draw(&random, 1) == 1;
	CHECK(fabs(ones / (double)DRAWS - (1 - exp(-1))) < 0.004);
}

UNIT_TEST(extremes_stay_in_range)
{
	uint64_t random = 4;

	for (int i = 0; i < 10000; i++) {
		int64_t distance = sample_draw(&random, UINT64_MAX);

		CHECK(distance >= 1 && distance <= SAMPLE_DISTANCE_MAX);
	}
}

UNIT_TEST(neighbouring_seeds_are_unrelated)
{
	uint64_t a = sample_seed(0x7f0000000000, 1000), b = sample_seed(0x7f0000000040, 1000), c = sample_seed(0x7f0000000000, 1001);
	int equal = 0;

	for (int i = 0; i < 1000; i++) {
		int64_t x = sample_draw(&a, 1 << 20), y = sample_draw(&b, 1 << 20), z = sample_draw(&c, 1 << 20);

		equal += (x == y) + (x == z);
	}
	CHECK(equal < 5);
}

UNIT_MAIN()
