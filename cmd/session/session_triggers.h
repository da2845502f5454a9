/* SPDX-License-Identifier: MIT */
/* session_triggers.h - the triggers of a running session: their figures, and the signal. */
#ifndef HI_SESSION_TRIGGERS_H
#define HI_SESSION_TRIGGERS_H

#include "session_state.h"

/*
 * Once the process is attached to. If the limit that --at-rss is a percentage of is not known, says
 * so, and the trigger never fires.
 */
void session_triggers_begin(struct session *session);
/* To be called each round: has the dumps begun that are due. */
void session_triggers_look(struct session *session);

#endif
