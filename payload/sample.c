/* SPDX-License-Identifier: MIT */
/* sample.c - an exponential variate by comparisons alone. See sample.h. */
#include "sample.h"

/* Bounds of loops that end long before with probabilities of 1 - e^-64 and 1 - 1/33!. */
#define WHOLE_MAX 64u
#define FALLEN_MAX 33u
/* of one in sixteen that succeeds at least: 1000 fail with a probability of 10^-27 */
#define FIRST_TRIES 1000u

typedef unsigned __int128 uint128;

/*
 * SplitMix64: every state is good, the sequence has full period, and one step is enough to part
 * neighbouring seeds.
 */
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
 * Von Neumann's method for an exponential variate ("Various techniques used in connection with
 * random digits", 1951). It uses comparisons instead of a logarithm, and its only error is that of
 * 64 random bits. Draw uniform numbers u1, u2, ...; let n be the length of the initial falling run.
 * Given u1 = x, the probability that n is odd is 1 - x + x^2/2 - ... = e^-x. So x is accepted if n
 * is odd. If n is even, which has the probability 1/e, one is added to the result and everything
 * begins anew. About 4.3 numbers are drawn on average.
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

/*
 * The first point is known by the byte into which it falls, and another point may fall into the
 * same byte. So the byte is kept with the probability (1 - e^(-1/(mean << shift))) / (1 -
 * e^(-1/mean)). This is 2^-shift * (1 + (1 - 2^-shift) / (2 * mean)), but for a relative error of 1
 * / (12 * mean^2).
 */
static bool is_first_kept(uint64_t *random, uint64_t mean, uint32_t shift)
{
	const uint64_t kept = 1ull << (63 - shift);

	return next_random(random) >> 1 < kept + (kept - (kept >> shift)) / mean / 2;
}

bool sample_is_kept(uint64_t *random, uint64_t mean, uint32_t shift, uint64_t rest)
{
	shift &= 63; /* what the target has written there may be anything */
	if (!shift || (mean > HI_INTERVAL_EXACT && is_first_kept(random, mean, shift)))
		return true;
	return (uint64_t)sample_draw(random, mean << shift) <= rest;
}

/*
 * Where the first point lies in the block, given that there is one: a distance no longer than the
 * block. In a small block all places are about equally likely.
 */
static uint64_t draw_first(uint64_t *random, uint64_t mean, uint64_t size)
{
	uint64_t first = size;

	if (size <= mean / 16)
		return (uint64_t)((uint128)next_random(random) * size >> 64);
	for (unsigned i = 0; i < FIRST_TRIES; i++) {
		first = (uint64_t)sample_draw(random, mean);
		if (first <= size)
			return first;
	}
	return size;
}

uint64_t sample_weight(uint64_t *random, uint64_t mean, uint64_t size)
{
	/* distances of whole bytes would leave out the second point in a byte */
	const uint32_t fine = mean < 1u << 20 ? 20 : 0;
	uint64_t rest, distance, points = 1;

	if (mean <= HI_INTERVAL_EXACT || size / 64 >= mean)
		return size;
	rest = (size << fine) - draw_first(random, mean << fine, size << fine);
	while ((distance = (uint64_t)sample_draw(random, mean << fine)) <= rest) {
		rest -= distance;
		points++;
	}
	return points * mean;
}
