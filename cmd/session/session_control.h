/* SPDX-License-Identifier: MIT */
/* session_control.h - what a running session does at a request, besides dump and detach. */
#ifndef HI_SESSION_CONTROL_H
#define HI_SESSION_CONTROL_H

#include "session_state.h"

/*
 * Serves the request of a client: answers it as control_socket.h says, and closes the connection.
 * Of a reset it only tells: the caller has done it.
 */
void session_control_serve(struct session *session, const char *request, int client);

#endif
