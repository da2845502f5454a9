/* SPDX-License-Identifier: MIT */
/*
 * session_rate.h - how often a running session samples: the interval, by the budget or as the user
 * wishes, and pauses.
 */
#ifndef HI_SESSION_RATE_H
#define HI_SESSION_RATE_H

#include "session_state.h"

/* before: what the payload has now. */
void session_rate_change(struct session *session, uint32_t before, uint32_t interval_shift);
/*
 * Where the user has chosen the interval: keeps it, and thins nothing. now: figures that the budget
 * goes on from later. False: the user has not.
 */
bool session_rate_hold(struct session *session, const struct overhead_figures *now);
/*
 * Chooses the interval that is nearest to `bytes`, a power of two times the finest; 0 = by the
 * budget again. 0, -ERANGE: finer than the finest, or too coarse; -ENOTSUP: there is no budget.
 */
must_check int session_rate_choose(struct session *session, uint64_t bytes);
/* The interval as it is now. */
uint64_t session_rate_now(const struct session *session);

/* Pauses, or goes on. -EALREADY: it is so already. */
must_check int session_rate_pause(struct session *session, bool begins);
/* How long nothing was sampled of the present profile, until now_ns. */
uint64_t session_rate_paused_ns(const struct session *session, uint64_t now_ns);

#endif
