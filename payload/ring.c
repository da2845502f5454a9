/* SPDX-License-Identifier: MIT */
/* ring.c - tries one ring after another for a record. See ring.h. */
#include "ring.h"

enum ring_outcome ring_put(const struct hi_state *state, struct ring_home home,
			   const uint64_t *word, uint32_t count, enum ring_class class)
{
	const uint32_t mask = state->ring_mask / 2; /* of the shared rings */
	enum ring_outcome outcome = ring_try(state, home, word, count, class);

	for (uint32_t i = home.is_own ? 0 : 1; i <= mask && outcome == RING_FULL; i++)
		outcome = ring_try(state, (struct ring_home){.number = (home.number + i) & mask},
				   word, count, class);
	return outcome;
}
