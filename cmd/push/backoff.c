/* SPDX-License-Identifier: MIT */
/* backoff.c - see backoff.h. */
#include "backoff.h"

#define SHIFT_MAX 16u

uint64_t backoff_fail(struct backoff *backoff, uint64_t retry_after_s, uint32_t random)
{
	uint64_t whole_ms = (uint64_t)BACKOFF_FIRST_MS << backoff->failures;

	if (backoff->failures < SHIFT_MAX)
		backoff->failures++;
	if (whole_ms > BACKOFF_MAX_MS)
		whole_ms = BACKOFF_MAX_MS;
	/* half of it, and a part of the other half */
	const uint64_t part_ms = whole_ms / 2 * random / UINT32_MAX;
	/* not before the time that the server names, and not all at that time */
	return retry_after_s ? retry_after_s * 1000 + part_ms / 2 : whole_ms / 2 + part_ms;
}

void backoff_reset(struct backoff *backoff)
{
	backoff->failures = 0;
}
