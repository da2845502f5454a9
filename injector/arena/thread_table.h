/* SPDX-License-Identifier: MIT */
/*
 * thread_table.h - reads the payload's thread table (struct hi_thread_table, hi_wire.h): which
 * threads are inside its hooks now, and what the hooks have cost.
 *
 * The target can write anything there, so the figures cannot be trusted.
 */
#ifndef HI_THREAD_TABLE_H
#define HI_THREAD_TABLE_H

#include "hi_wire.h"
#include "memory.h"

#define INSIDE_COUNTS (HI_THREAD_SLOTS + HI_PLACES + 2u)
#define INSIDE_NAMED (INSIDE_COUNTS - 1u) /* of functions that the user has named */

/* Too large to be placed on a stack. */
struct inside {
	uint64_t frames; /* hook frames that will return into the payload: the sum of the counts */
	uint64_t cycles; /* cycles spent in hooks */
	/*
	 * frames of each slot's first owner; then of each place; then of threads that found no
	 * place; last, of functions that the user has named
	 */
	uint32_t count[INSIDE_COUNTS];
};

/* table: its address in the target. */
must_check int thread_table_read(const struct memory *memory, remote_addr table,
				 struct inside *out_inside);
/* Sets the counts that are not zero in `inside` to zero in the target. */
must_check int thread_table_clear(const struct memory *memory, remote_addr table,
				  const struct inside *inside);

/*
 * Makes threads whose countdown was drawn with an interval_shift above `shift` draw a new one at
 * their next allocation: they leave the gate's fast path, and the hook sees that the interval has
 * changed.
 */
must_check int thread_table_renew(const struct memory *memory, remote_addr table, uint32_t shift);

#endif
