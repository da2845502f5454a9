/* SPDX-License-Identifier: MIT */
/* session_rate.c - see session_rate.h. */
#include "session_rate.h"

#include <errno.h>

#include "hi_interval.h"
#include "thread_table.h"

/*
 * Writes the record first: the payload may draw with the new mean from the next instruction on. A
 * coarser interval takes effect by itself, as the countdowns run out.
 */
void session_rate_change(struct session *session, uint32_t before, uint32_t interval_shift)
{
	const struct attachment *attachment = &session->attachment;
	(void)!pump_interval(&session->pump, session->options->interval << interval_shift);
	session->interval_shift = interval_shift;
	__atomic_store_n(&attachment->arena.shared->interval_shift, interval_shift,
			 __ATOMIC_RELAXED);
	if (interval_shift < before)
		(void)!thread_table_renew(
			&attachment->memory,
			arena_state(attachment->control) +
				arena_state_layout(attachment->control).thread_slots,
			interval_shift);
}

bool session_rate_hold(struct session *session, const struct overhead_figures *now)
{
	struct hi_control *shared = session->attachment.arena.shared;
	if (!session->has_chosen_rate)
		return false;
	/* the payload raises it itself if very much is due */
	const uint32_t before = __atomic_load_n(&shared->interval_shift, __ATOMIC_RELAXED);
	overhead_hold(&session->overhead, now, &shared->thinning, before);
	if (before != session->interval_shift)
		session_rate_change(session, before, session->interval_shift);
	return true;
}

int session_rate_choose(struct session *session, uint64_t bytes)
{
	const uint64_t finest = session->options->interval;
	const uint32_t before = __atomic_load_n(&session->attachment.arena.shared->interval_shift,
						__ATOMIC_RELAXED);
	uint32_t shift = 0;
	if (!bytes && !session->options->budget_ppm)
		return -ENOTSUP;
	/* what is refused changes nothing: one that was chosen before stays */
	if (bytes && (bytes < finest || bytes > HI_INTERVAL_MOST))
		return -ERANGE;
	session->has_chosen_rate = bytes != 0;
	if (!bytes)
		return 0;
	/* nearest as a factor: from 1.414 times on the next one is */
	while (shift < HI_INTERVAL_SHIFT_MAX && finest << (shift + 1) <= HI_INTERVAL_MOST &&
	       (double)bytes >= 1.41421356 * (double)(finest << shift))
		shift++;
	if (shift != before || shift != session->interval_shift)
		session_rate_change(session, before, shift);
	return 0;
}

uint64_t session_rate_now(const struct session *session)
{
	return session->options->interval << session->interval_shift;
}

/* The record of a pause covers all of the time in which nothing is recorded. */
int session_rate_pause(struct session *session, bool begins)
{
	uint32_t *paused = &session->attachment.arena.shared->paused;
	const uint64_t now_ns = pump_now_ns(&session->pump);
	if (begins == session->is_paused)
		return -EALREADY;
	if (!begins)
		__atomic_store_n(paused, 0, __ATOMIC_RELAXED);
	const int err = pump_pause(&session->pump, begins);
	if (begins)
		__atomic_store_n(paused, 1, __ATOMIC_RELAXED);
	if (begins)
		session->paused_at_ns = now_ns;
	else
		session->paused_ns += now_ns - session->paused_at_ns;
	session->is_paused = begins;
	return err;
}

uint64_t session_rate_paused_ns(const struct session *session, uint64_t now_ns)
{
	return session->paused_ns + (session->is_paused ? now_ns - session->paused_at_ns : 0);
}
