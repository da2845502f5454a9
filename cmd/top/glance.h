/* SPDX-License-Identifier: MIT */
/*
 * glance.h - one look at a running session: its status, and what its profile says (hi_rows.h).
 *
 * The look is taken in a job. Once that has the profile, which may be another user's, it gives up
 * all rights (sandbox.h), and only then reads it. So its result is checked like a stranger's.
 */
#ifndef HI_TOP_GLANCE_H
#define HI_TOP_GLANCE_H

#include <stdbool.h>

#include "hi_rows.h"
#include "job.h"
#include "status_fields.h"

#define GLANCE_NO_SESSION                                                                         \
	100                   /* exit code of the job: no session is attached, as far as is known \
			       */
#define GLANCE_NO_PROCESS 101 /* likewise: it has ended */

struct glance_row {
	struct hi_row row;
	char *stack; /* lines; NUL-terminated */
};

struct glance {
	struct status_fields status;
	struct hi_rows_head head;
	struct glance_row *row;
	size_t count;
	bool has_rows; /* false: there is only the status; the session has nothing to say yet */
};

/* Begins a look at the session of *pid, which must last as long as the job. 0 or negative errno. */
must_check int glance_start(struct job *job, pid_t *pid);
/*
 * What a job that has ended wrote, into a look that is zeroed or open: 0, -ENOMEM, or -EPROTO,
 * where `bytes` is a message instead.
 */
must_check int glance_read(const char *bytes, size_t size, struct glance *glance);
void glance_close(struct glance *glance);

#endif
