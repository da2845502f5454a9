/* SPDX-License-Identifier: MIT */
/*
 * session_detached.h - `attach --detached`: the session is a child of the command, which returns
 * once the process is attached to, or once it is certain that it will not be.
 *
 * Until its log is open, the session writes messages where the command does; from then on into the
 * log, of which the command's standard error gets what came until then. If the process was not
 * attached to, the log is removed.
 */
#ifndef HI_SESSION_DETACHED_H
#define HI_SESSION_DETACHED_H

#include <limits.h>
#include <stdbool.h>

#include "must_check.h"
#include "outputs.h"

struct session_detached {
	bool is_on;    /* false: the functions below do nothing */
	int tell;      /* the command reads here that the session has begun; -1 = it was told */
	int stderr_fd; /* the command's standard error; -1 = no longer needed */
	int directory; /* where the log is */
	char path[PATH_MAX]; /* of the log; "" = it is not open yet */
};

/*
 * Forks. True: this is the command, which has waited; *out_exit_code is its exit code. False: this
 * is the session, or the fork failed, which then was said and is *out_exit_code.
 */
bool session_detached_fork(struct session_detached *detached, bool quiet, int *out_exit_code);
/* Opens the log, PREFIX.PID.NNNN.log. 0 or negative errno. */
must_check int session_detached_log(struct session_detached *detached,
				    const struct outputs *outputs);
/*
 * The process is attached to: tells the command, and leaves its terminal. False: the command has
 * gone, so nobody knows of the session.
 */
must_check bool session_detached_tell(struct session_detached *detached);
/* To be called at the end, whatever came of it. */
void session_detached_close(struct session_detached *detached);

#endif
