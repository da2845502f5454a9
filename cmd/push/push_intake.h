/* SPDX-License-Identifier: MIT */
/* push_intake.h - from the session to the spool: the second thread of the process that pushes. */
#ifndef HI_PUSH_INTAKE_H
#define HI_PUSH_INTAKE_H

#include "pushing.h"

/* The thread: takes profiles until the session is over. argument: a struct pushing. */
void *push_intake_serve(void *argument);

/* A random UUID, by which the server knows a profile that it gets again. 0 or negative errno. */
must_check int push_intake_id(char id[SPOOL_ID_MAX]);
/* Reads a file from its beginning. 0 or negative errno; -ENODATA: it is shorter. */
must_check int push_intake_read(int fd, uint8_t *bytes, size_t size);

#endif
