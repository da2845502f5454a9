/* SPDX-License-Identifier: MIT */
/*
 * judgement.h - may the figures of a session be believed? From what it has recorded (meta) to what may not be said of it (caveats.h).
 *
 * Four questions, each on its own; docs/sampling.md has the limits and why they are where they are.
 */
#ifndef HI_JUDGEMENT_H
#define HI_JUDGEMENT_H

#include "profile.h"

/* Makes the caveats anew. Of a profile as it was recorded, before anything is left out of it or added to it. 0 or -ENOMEM. */
int judgement_make(struct profile *profile);
/* Of the interval with which samples were drawn at most: so wide must the pieces be in which addresses are counted for meta.memory.spread. A power of two. */
uint64_t judgement_spread_piece(const struct profile *profile);

#endif
