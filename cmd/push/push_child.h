/* SPDX-License-Identifier: MIT */
/*
 * push_child.h - the process that speaks to the server.
 *
 * A thread takes profiles from the socket and puts them into the spool, however long the server
 * takes; the first thread sends what is in the spool. When the session has gone, by its end or
 * because it was killed, the process goes on for a while, and what is in the spool then stays.
 */
#ifndef HI_PUSH_CHILD_H
#define HI_PUSH_CHILD_H

#include "push_messages.h"

/* Ends the process. */
_Noreturn void push_child_run(struct push_child *child);

#endif
