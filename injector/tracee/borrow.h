/* SPDX-License-Identifier: MIT */
/*
 * borrow.h - decides which thread of the target may be borrowed, by looking at /proc before any
 * thread is stopped, and again when it is stopped.
 */
#ifndef HI_BORROW_H
#define HI_BORROW_H

#include "arch.h"
#include "procfs.h"

/*
 * True while a stop would make the thread's system call return a short count. The injector waits
 * for such calls up to BORROW_PATIENCE_MS; a longer one waits for another program, which may never
 * answer.
 */
bool borrow_is_transferring(pid_t pid, pid_t tid);
#define BORROW_PATIENCE_MS 300

/*
 * Threads that may be borrowed, best first; the caller frees the list. It may be empty. want_still:
 * looks for some milliseconds; threads that sleep all the while come before the others.
 */
must_check int borrow_candidates(pid_t pid, bool want_still, pid_t **out_tids, size_t *out_count);
/*
 * Can it be stopped now? -EAGAIN: state D, or exiting, or a kernel worker. -ENOTSUP: it has a
 * shadow stack, which a guard frame would violate.
 */
must_check int borrow_check(pid_t pid, pid_t tid);
/*
 * Does a stopped thread with these registers run on a stack of its own that has room below sp, down
 * to `lowest`? -EAGAIN: no (a signal stack, a coroutine's stack: what lies below may be in use).
 */
must_check int borrow_check_stack(const struct maps *maps, const struct arch_regs *regs,
				  remote_addr lowest);

#endif
