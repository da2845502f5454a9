/* SPDX-License-Identifier: MIT */
/*
 * session_loop.h - a session while it is attached: the loop that pumps and watches, and the figures
 * that it sends.
 */
#ifndef HI_SESSION_LOOP_H
#define HI_SESSION_LOOP_H

#include "hi_stream.h"
#include "session_state.h"

/*
 * Sends and shows how the session is going. Changes the sampling interval if sampling costs more
 * than it may.
 */
void session_send_stats(struct session *session);
/* When the process is gone: what was counted since. The other figures are the last ones. */
void session_send_counts(struct session *session);
/* Runs until there is a reason to stop, and returns it. */
enum hi_stream_end_reason session_run(struct session *session);

#endif
