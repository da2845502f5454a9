/* SPDX-License-Identifier: MIT */
/* doubted_gate.h - a gate for tests of doubts. */
#ifndef HI_DOUBTED_GATE_H
#define HI_DOUBTED_GATE_H

#include "doubts.h"
#include "hi_wire.h"
#include "unit.h"

#define GATE 0x7f1234ffe000ull /* a few entries in its second page, where other 64 KB begin */
#define AT 0x7f1230000000ull
#define ENTRIES 30
#define BYTES 256

static const struct doubts_gate gate = {
	.gate = GATE + 0x1800, .count = ENTRIES, .skip_lo = GATE, .skip_hi = GATE + 0x4000};

static inline uint64_t entry(unsigned number)
{
	return gate.gate + (uint64_t)number * HI_GATE_STRIDE;
}

static inline void check_only(struct doubts doubts, enum doubt expected)
{
	size_t all = 0;

	for (size_t i = 0; i < DOUBTS; i++)
		all += doubts.count[i];
	CHECK_EQ(all, 1);
	CHECK_EQ(doubts.count[expected], 1);
}

#endif
