/* SPDX-License-Identifier: MIT */
/*
 * thread_table.h - the payload's thread table (struct hi_thread_table, hi_wire.h), as it is at this moment: who is inside its hooks, and what they have cost.
 *
 * The target can write what it likes there: figures, not facts.
 */
#ifndef HI_THREAD_TABLE_H
#define HI_THREAD_TABLE_H

#include "hi_wire.h"
#include "memory.h"

#define INSIDE_COUNTS (HI_THREAD_SLOTS + HI_PLACES + 1u)

/* Too large for a stack. */
struct inside {
	uint64_t frames;               /* hook frames that will return into the payload: the sum of the counts */
	uint64_t cycles;               /* of the cycle counter, spent in hooks */
	uint32_t count[INSIDE_COUNTS]; /* of first owners, by slot; of places; of those that found no place */
};

/* table: its address in the target. */
must_check int thread_table_read(const struct memory *memory, remote_addr table, struct inside *out_inside);
/* Sets those counts to zero that were not. */
must_check int thread_table_clear(const struct memory *memory, remote_addr table, const struct inside *inside);

#endif
