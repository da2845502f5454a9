/* SPDX-License-Identifier: MIT */
/* session_status.h - asks one session how it is going, for who shows it in another form. */
#ifndef HI_SESSION_STATUS_H
#define HI_SESSION_STATUS_H

#include "preflight.h"
#include "status_fields.h"

/*
 * Returns an exit code of hi_exit.h, other than HI_EXIT_OK once an error was printed, or
 * SESSION_NO_ANSWER, as session_request() does.
 */
must_check int session_status_read(pid_t pid, struct status_fields *out_fields,
				   struct preflight *out_preflight);

#endif
