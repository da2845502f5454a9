/* SPDX-License-Identifier: MIT */
/*
 * judgement.h - decides whether the figures of a session can be believed: makes the caveats
 * (caveats.h) from what the session has recorded (meta).
 *
 * It asks five questions, each on its own. docs/sampling.md has the limits and the reasons for
 * them.
 */
#ifndef HI_JUDGEMENT_H
#define HI_JUDGEMENT_H

#include "profile.h"

/*
 * Replaces the caveats by new ones. The profile must be as it was recorded, before anything is left
 * out of it or added to it. 0 or -ENOMEM.
 */
int judgement_make(struct profile *profile);
/*
 * The size in bytes, a power of two, of the pieces in which addresses are counted for
 * meta.memory.spread. It follows from the largest interval with which samples were drawn.
 */
uint64_t judgement_spread_piece(const struct profile *profile);

#endif
