/* SPDX-License-Identifier: MIT */
/*
 * seccomp_filter.h - would a thread's seccomp filters allow the system calls that the injector is
 * going to make in it?
 *
 * While the injector traces a thread the filters are suspended, and every call passes. But that
 * ends with the injector: if it is killed between placing a call and its execution, the thread
 * makes that call under its filters, and if these answer with a signal the target dies, too. So the
 * filters are read and run here for each system call of a session, before the first is placed.
 */
#ifndef HI_SECCOMP_FILTER_H
#define HI_SECCOMP_FILTER_H

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "tracee.h"

/* The filter's answer to a call: SECCOMP_RET_*, with its data. An invalid program kills. */
uint32_t seccomp_filter_run(const struct sock_filter *code, size_t count,
			    const struct seccomp_data *call);

/* How the target opens the file of the probes: never waits, whatever lies there by then. */
#define PROBES_OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

/* What is done in the target: each makes the calls of those before it, and more. */
enum seccomp_calls {
	SECCOMP_MAP,    /* the arena is mapped */
	SECCOMP_OPEN,   /* a file is opened, too */
	SECCOMP_DLOPEN, /* the target's own dlopen loads the payload */
};

/*
 * The thread must be stopped. 0; -ECANCELED: if the injector died, a call of ours might kill the
 * thread or block it; or the error of reading the filters.
 */
must_check int seccomp_filter_check(const struct tracee *tracee, remote_addr syscall_instruction,
				    enum seccomp_calls made);

#endif
