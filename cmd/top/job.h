/* SPDX-License-Identifier: MIT */
/*
 * job.h - work in a process of its own, so that the screen never waits for a session: what the
 * process writes is kept until it ends.
 *
 * The process has no terminal, so that no key at the terminal ends or stops it, and only standard
 * descriptors: standard input is empty, standard output and error are what is kept.
 */
#ifndef HI_TOP_JOB_H
#define HI_TOP_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "must_check.h"

#define JOB_BYTES_MAX (64u << 20) /* of what it writes; the rest is dropped */

struct job {
	pid_t pid;   /* 0 = none */
	int fd;      /* to wait for: it has written, or has ended; -1 = none */
	char *bytes; /* what it has written, and a NUL; NULL = nothing yet */
	size_t size, room;
	int exit_code; /* once it has ended; negative: by a signal */
};
#define JOB_NONE ((struct job){.fd = -1})

/* work: runs in the process; its result is the exit code. 0 or negative errno. */
must_check int job_start(struct job *job, int (*work)(void *context), void *context);
/* Reads what has come. True: it has ended, and `bytes` and `exit_code` are complete. */
bool job_look(struct job *job);
/* Leaves a process that runs to itself, and frees what it has written. */
void job_close(struct job *job);

#endif
