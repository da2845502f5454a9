/* SPDX-License-Identifier: MIT */
/*
 * launch.h - starts a program and stops it where nothing of it has run yet, for `heapinject run`.
 *
 * The program is a child of the calling process. A program with a dynamic linker is stopped when
 * that has relocated all objects and has not called any constructor: there the dynamic linker calls
 * a function for debuggers (_dl_debug_state of glibc and musl), where a breakpoint waits for it. A
 * static program is stopped when its C library has set the thread pointer, which precedes all that
 * could allocate. The breakpoint lies in a private copy of the page, and its byte is restored.
 *
 * After that the child is stopped as SIGSTOP stops (state T), and nobody traces it: attach takes it
 * as any other stopped process, and launch_let_go() has it go on. Until then it dies if the calling
 * thread does.
 */
#ifndef HI_LAUNCH_H
#define HI_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "memory.h"
#include "must_check.h"

struct remote_gadgets;

enum launch_failure {
	LAUNCH_NO_CHILD,    /* the error of fork, or of what it needs */
	LAUNCH_NO_EXEC,     /* the error of execvp */
	LAUNCH_NO_TRACE,    /* the error of ptrace */
	LAUNCH_ENDED,       /* it ended before its first instruction: out_status says how */
	LAUNCH_LOST_RIGHTS, /* it would have had rights by its file, which a traced one does not get
			     */
	LAUNCH_NO_LINKER,   /* its dynamic linker has no function for debuggers */
	LAUNCH_NO_THREAD,   /* static, and sets no thread pointer: it is none of a C library */
};

struct launch {
	char **argv; /* as of execvp */
	/* called in the child before exec: takes back what the child must not inherit; or NULL */
	void (*prepare)(void);
	/* set if it fails */
	enum launch_failure failure;
	int status; /* as of waitpid */
};

/*
 * Returns 0 and the child's pid; or a negative errno, and launch->failure says what that means. No
 * child is left then. Waits as long as the dynamic linker takes. The calling thread must not end,
 * and must not block or ignore SIGCHLD.
 */
must_check int launch(struct launch *launch, pid_t *out_pid);
/*
 * Continues the child, which from then on lives without the calling process. At no instant is it
 * stopped and would outlive the calling process. memory, gadgets: of the child (remote.h).
 * is_watched: exit_watch.h watches it, from its first instruction on. On negative errno it has been
 * killed, or is as it was.
 */
must_check int launch_let_go(pid_t pid, const struct memory *memory,
			     const struct remote_gadgets *gadgets, bool is_watched);

#endif
