/* SPDX-License-Identifier: MIT */
/*
 * session_begin.h - the beginning of a session: preflight, attach, and the head of the record
 * stream. Both functions print their own messages and return an exit code of hi_exit.h.
 */
#ifndef HI_SESSION_BEGIN_H
#define HI_SESSION_BEGIN_H

#include "session_state.h"

/* HI_EXIT_OK: the attachment holds what preflight has read, and the caller must close it. */
int session_check_target(struct session *session);
/*
 * Attaches, and describes the target in the stream. After a failure the target may be attached all
 * the same: if session->attachment.control is set, session_end() has to follow.
 */
int session_begin(struct session *session);

#endif
