/* SPDX-License-Identifier: MIT */
/*
 * session_leaks.h - `heapinject run --fail-if-leaks`: which blocks nothing refers to when the
 * program exits. Nothing here does anything in other sessions.
 *
 * The program is held at its exit (exit_watch.h). Meanwhile all records go to the analyzer, which
 * answers with the live blocks; reach.h finds out which of them are leaked, and a LEAKED record
 * says that to the analyzer, whose report comes with its answer. How long that may take is bounded.
 */
#ifndef HI_SESSION_LEAKS_H
#define HI_SESSION_LEAKS_H

#include <stdio.h>

#include "session_state.h"

/*
 * Before the program is let go, which begins to be watched then: whether its leaks can be found.
 * Returns an exit code; says what is wrong.
 */
int session_leaks_check(const struct session *session);
/*
 * In each round, after the records that have come were taken. Not in the first one in which the
 * program is held: one more takes what its threads did last, with the libraries that they loaded.
 */
bool session_leaks_are_due(struct session *session);
/* Before it the figures of the session are to be sent. Lets the program go. */
void session_leaks_find(struct session *session);
/* Before anything else traces the program: lets it go. reason: why the session ends. */
void session_leaks_end(struct session *session, enum hi_stream_end_reason reason);
/* What leaked, or why that is not known; and the member "leaks" of the object, after a comma. */
void session_leaks_report(const struct session *session, FILE *out);
void session_leaks_json(const struct session *session, FILE *out);
int session_leaks_exit_code(const struct session *session);

#endif
