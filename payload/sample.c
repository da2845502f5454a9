/* SPDX-License-Identifier: MIT */
/* sample.c - an exponential variate in fixed point: -ln(U) * mean, with the logarithm taken bit by bit. See sample.h. */
#include "sample.h"

#define FRACTION_BITS 32
#define LN2_BY_2_64 0xb17217f7d1cf79abull /* ln 2 * 2^64 */

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
 * -log2(u / 2^64) for u > 0, with FRACTION_BITS behind the point. Squaring a number in [1, 2) doubles its logarithm; whether the square reached 2 is the
 * next bit of it. The error stays below 2^-30.
 */
static uint64_t minus_log2(uint64_t u)
{
	unsigned shift = (unsigned)__builtin_clzll(u);
	uint64_t mantissa = u << shift; /* 63 bits behind the point */
	uint64_t fraction = 0;

	for (int i = 0; i < FRACTION_BITS; i++) {
		uint128 square = (uint128)mantissa * mantissa;
		unsigned bit = (unsigned)(square >> 127);

		mantissa = (uint64_t)(square >> (63 + bit));
		fraction = fraction << 1 | bit;
	}
	return ((uint64_t)(shift + 1) << FRACTION_BITS) - fraction;
}

int64_t sample_draw(uint64_t *random, uint64_t mean)
{
	uint64_t u = next_random(random);
	uint64_t minus_ln = (uint64_t)((uint128)minus_log2(u ? u : 1) * LN2_BY_2_64 >> 64);
	uint128 distance = ((uint128)mean * minus_ln >> FRACTION_BITS) + 1;

	return distance < SAMPLE_DISTANCE_MAX ? (int64_t)distance : SAMPLE_DISTANCE_MAX;
}
