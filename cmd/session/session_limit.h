/* SPDX-License-Identifier: MIT */
/*
 * session_limit.h - a session that watches the memory limit of its process (`heapinject guard`):
 * when profiles are due, what is said of the limit, and what was the last profile before a kill.
 *
 * All functions may be called of a session that watches none, and then do nothing.
 */
#ifndef HI_SESSION_LIMIT_H
#define HI_SESSION_LIMIT_H

#include <poll.h>
#include <stdio.h>

#include "hi_stream.h"
#include "session_state.h"

#define SESSION_LIMIT_WAITS 2u

void session_limit_begin(struct session *session);
/* What to poll for; returns how many. Afterwards session_limit_woken() must be called with them. */
size_t session_limit_waits(const struct session *session, struct pollfd waits[SESSION_LIMIT_WAITS]);
void session_limit_woken(struct session *session, const struct pollfd *waits, size_t count);
/* To be called every round. */
void session_limit_look(struct session *session);
/* A dump begins, of whatever trigger. */
void session_limit_dump(struct session *session);
/* Whether progress is to be told by events only, as by a daemon. */
bool session_limit_is_log(const struct session *session);
/* Why the process has ended, if that is because of its memory; NULL: not known to be so. */
const char *session_limit_explain(struct session *session, enum hi_stream_end_reason reason);
/* After the files are written: which of them are from before the kill, which from its moment. */
void session_limit_report(const struct session *session, FILE *out);
/* A member of the answer for programs, with the comma before it. */
void session_limit_json(const struct session *session, FILE *out);
void session_limit_close(struct session *session);

#endif
