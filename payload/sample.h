/* SPDX-License-Identifier: MIT */
/*
 * sample.h - which allocations are samples: a Poisson process over the bytes that one thread
 * allocates, with mean distance R.
 *
 * The distance to the next sampled byte is floor(X) + 1, where X is exponential with mean R. So an
 * allocation of s bytes is a sample with probability exactly 1 - e^(-s/R). The distribution has no
 * memory: a countdown may be thrown away and drawn anew at any time (a slot lost, a nested call, a
 * changed interval) without bias.
 */
#ifndef PAYLOAD_SAMPLE_H
#define PAYLOAD_SAMPLE_H

#include <stdbool.h>

#include "hi_wire.h"

/* Start of a generator: any two (thread, cycles) give unrelated sequences. */
uint64_t sample_seed(uint64_t thread, uint64_t cycles);

/*
 * Draws the next distance, >= 1 and <= SAMPLE_DISTANCE_MAX. Integers only: the payload must not
 * touch vector registers.
 */
int64_t sample_draw(uint64_t *random, uint64_t mean);
#define SAMPLE_DISTANCE_MAX (INT64_MAX / 2)

/*
 * Whether an allocation that is due is kept, where only one point in 2^shift is. The first point
 * that falls into the block is kept with that probability. If it is not, the points that are kept
 * in the rest of the block are a Poisson process again, with a mean distance of mean << shift. So
 * an allocation of s bytes is due and kept with probability exactly 1 - e^(-s/(mean << shift)).
 *
 * rest: the bytes of the block after the first point; all of its bytes if mean is 1, where every
 * allocation is due. mean: 1, or at least HI_THINNING_MEAN_MIN; mean << shift must fit into 63
 * bits.
 */
bool sample_is_kept(uint64_t *random, uint64_t mean, uint32_t shift, uint64_t rest);

/*
 * The bytes that a sample of size > 0 stands for, as a multiple of the mean: the number of points
 * in the block, given that there is at least one. Its expected value is what the size and the
 * probability of being a sample require, size / (1 - e^(-size/mean)), but for a relative error of
 * 1/3000. A mean of 1 and a block of many means stand for the size itself.
 */
uint64_t sample_weight(uint64_t *random, uint64_t mean, uint64_t size);

#endif
