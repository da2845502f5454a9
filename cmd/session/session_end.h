/* SPDX-License-Identifier: MIT */
/* session_end.h - the end of a session: detach, drain, end record, files, receipt. */
#ifndef HI_SESSION_END_H
#define HI_SESSION_END_H

#include "hi_stream.h"
#include "session_state.h"

/* Ends the session whatever the reason. Prints its own messages, returns an exit code of hi_exit.h.
 */
int session_end(struct session *session, enum hi_stream_end_reason reason);

#endif
