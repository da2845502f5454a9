/* SPDX-License-Identifier: MIT */
/*
 * backoff.h - how long to wait before the next attempt: twice as long after each failure, and by
 * chance, so that many that a server has failed do not come back at the same moment.
 */
#ifndef HI_BACKOFF_H
#define HI_BACKOFF_H

#include <stdint.h>

#define BACKOFF_FIRST_MS 1000u
#define BACKOFF_MAX_MS 300000u

struct backoff {
	unsigned failures; /* one after the other */
};

/*
 * Counts a failure. retry_after_s: what the server asks to wait at least; 0 = nothing. random: any
 * number. Milliseconds.
 */
uint64_t backoff_fail(struct backoff *backoff, uint64_t retry_after_s, uint32_t random);
void backoff_reset(struct backoff *backoff);

#endif
