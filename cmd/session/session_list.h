/* SPDX-License-Identifier: MIT */
/*
 * session_list.h - finds the running sessions that the caller may ask, and asks how they are going.
 */
#ifndef HI_SESSION_LIST_H
#define HI_SESSION_LIST_H

#include <sys/types.h>

#include "preflight.h"
#include "status_fields.h"

/* Gets the status of one session, with `injector` and `uid`; valid during the call. */
typedef void session_visitor(void *context, const struct status_fields *fields);

/* All that answer; of those that do not, an error is printed. Not for threads. */
void session_list(session_visitor *visit, void *context);
/*
 * The session of pid. Returns an exit code of hi_exit.h; other than HI_EXIT_OK, an error was
 * printed and nothing visited.
 */
must_check int session_list_one(pid_t pid, session_visitor *visit, void *context);
/*
 * The same for who shows it in another form, also when there is none: returns SESSION_NO_ANSWER in
 * that case, without a message, as session_request() does.
 */
must_check int session_list_read(pid_t pid, struct status_fields *out_fields,
				 struct preflight *out_preflight);

#endif
