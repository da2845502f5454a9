/* SPDX-License-Identifier: MIT */
/* sample.c - an exponential variate by comparisons alone. See sample.h. */
#include "sample.h"

/* Bounds of loops that end long before: with a probability of 1 - e^-64, and of 1 - 1/33!. */
#define WHOLE_MAX 64u
#define FALLEN_MAX 33u

typedef unsigned __int128 uint128;

/* SplitMix64: every state is good, the sequence has full period, and one step is enough to part neighbouring seeds. */
static uint64_t next_random(uint64_t *random)
{
	uint64_t z = *random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

uint64_t sample_seed(uint64_t thread, uint64_t cycles)
{
	uint64_t random = thread ^ cycles << 20;

	return next_random(&random) ^ cycles;
}

/*
 * Von Neumann's way to an exponential variate ("Various techniques used in connection with random digits", 1951): comparisons instead of a logarithm, and no
 * error but that of 64 random bits. Of uniform numbers u1, u2, ... let the first n fall, and the next one not. Given u1 = x that n is odd has the probability 1
 * - x + x^2/2 - ... = e^-x. So x is accepted if n is odd; if it is not, which has the probability 1/e, one is added and all begins anew. Some 4.3 numbers are
 * drawn on average.
 */
static uint64_t draw_fraction(uint64_t *random, uint64_t *out_whole)
{
	uint64_t first, last, next;
	unsigned fallen;

	for (*out_whole = 0;; ++*out_whole) {
		fallen = 0;
		first = next = next_random(random);
		do {
			last = next;
			next = next_random(random);
			fallen++;
		} while (next < last && fallen < FALLEN_MAX);
		if (fallen & 1 || *out_whole == WHOLE_MAX)
			return first;
	}
}

int64_t sample_draw(uint64_t *random, uint64_t mean)
{
	uint64_t whole, fraction = draw_fraction(random, &whole);
	uint128 distance = (uint128)mean * whole + (uint64_t)((uint128)mean * fraction >> 64) + 1;

	return distance < SAMPLE_DISTANCE_MAX ? (int64_t)distance : SAMPLE_DISTANCE_MAX;
}
