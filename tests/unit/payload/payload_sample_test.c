/* SPDX-License-Identifier: MIT */
/*
 * payload_sample_test.c - the sampler's distribution. Seeds are fixed, so that no run differs from
 * another.
 */
#include <math.h>
#include <stdlib.h>

#include "sample.h"
#include "unit.h"

/*
 * Kolmogorov and Smirnov: the largest distance between what was drawn and the exponential
 * distribution, over its whole length.
 */
static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

UNIT_TEST(draws_are_exponential)
{
	enum { DRAWS = 1000000 };
	static const uint64_t mean[] = {524288, 1ull << 50};
	static double drawn[DRAWS];

	for (unsigned i = 0; i < 2; i++) {
		uint64_t random = 42;
		double distance = 0;

		for (int j = 0; j < DRAWS; j++)
			drawn[j] = ((double)sample_draw(&random, mean[i]) - 0.5) / (double)mean[i];
		qsort(drawn, DRAWS, sizeof(drawn[0]), compare);
		for (int j = 0; j < DRAWS; j++)
			distance = fmax(distance, fabs(-expm1(-drawn[j]) - (j + 0.5) / DRAWS));
		CHECK(distance < 1.63 / sqrt(DRAWS)); /* exceeded once in a hundred seeds */
		CHECK(drawn[DRAWS - 1] > 11);         /* ln of a million is 13.8 */
	}
}

/* No memory: after one mean distance, as after none, what is left has the same mean. */
UNIT_TEST(what_is_left_after_a_mean_is_exponential_again)
{
	uint64_t random = 7;
	double sum = 0;
	int longer = 0;

	for (int i = 0; i < 1000000; i++) {
		double drawn = (double)sample_draw(&random, 1ull << 40) * 0x1p-40;

		if (drawn <= 1)
			continue;
		sum += drawn - 1;
		longer++;
	}
	CHECK(fabs(longer / 1e6 - exp(-1)) < 0.002);
	CHECK(fabs(sum / longer - 1) < 0.007);
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

/*
 * An allocation of s bytes that is due by the mean, and kept where one point in 2^k is, is a sample
 * with the probability that the mean << k gives.
 */
UNIT_TEST(thinning_gives_the_probability_of_the_larger_mean)
{
	static const uint64_t mean[] = {1, 64, 100, 4096}, size[] = {8, 100, 1000, 50000};
	enum { DRAWS = 400000 };

	for (size_t m = 0; m < sizeof(mean) / sizeof(*mean); m++)
		for (size_t s = 0; s < sizeof(size) / sizeof(*size); s++)
			for (uint32_t shift = 1; shift <= 7; shift += 3) {
				uint64_t random = 100 * m + 10 * s + shift;
				double kept = 0;

				for (int i = 0; i < DRAWS; i++) {
					const uint64_t first =
						mean[m] == 1
							? 0
							: (uint64_t)sample_draw(&random, mean[m]);

					if (first <= size[s])
						kept += sample_is_kept(&random, mean[m], shift,
								       size[s] - first);
				}
				const double p =
					-expm1(-(double)size[s] / (double)(mean[m] << shift));

				if (fabs(kept / DRAWS - p) > 4.5 * sqrt(p * (1 - p) / DRAWS) + 1e-6)
					UNIT_FAIL("mean %lu, shift %u, size %lu: %.5f, wanted %.5f",
						  (unsigned long)mean[m], shift,
						  (unsigned long)size[s], kept / DRAWS, p);
			}
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
	uint64_t a = sample_seed(0x7f0000000000, 1000), b = sample_seed(0x7f0000000040, 1000),
		 c = sample_seed(0x7f0000000000, 1001);
	int equal = 0;

	for (int i = 0; i < 1000; i++) {
		int64_t x = sample_draw(&a, 1 << 20), y = sample_draw(&b, 1 << 20),
			z = sample_draw(&c, 1 << 20);

		equal += (x == y) + (x == z);
	}
	CHECK(equal < 5);
}

UNIT_MAIN()

/* What all samples of a size stand for together is what was allocated. */
UNIT_TEST(weights_of_samples_add_up_to_the_bytes_allocated)
{
	static const uint64_t mean[] = {1, 64, 4096, 524288},
			      size[] = {16, 300, 4000, 32768, 100000, 3000000, 40000000};
	enum { DRAWS = 400000 };

	for (size_t m = 0; m < sizeof(mean) / sizeof(*mean); m++)
		for (size_t s = 0; s < sizeof(size) / sizeof(*size); s++) {
			const double ratio = (double)size[s] / (double)mean[m],
				     probability = mean[m] == 1 ? 1 : -expm1(-ratio),
				     wanted = (double)size[s] / probability;
			uint64_t random = 31 * m + s;
			double sum = 0, squares = 0, deviation;

			for (int i = 0; i < DRAWS; i++) {
				const double weight =
					(double)sample_weight(&random, mean[m], size[s]);

				sum += weight / DRAWS;
				squares += weight * weight / DRAWS;
			}
			deviation = sqrt(fmax(squares - sum * sum, 0) / DRAWS);
			CHECK(fabs(sum - wanted) <= 4.5 * deviation + wanted / 3000);
		}
}
