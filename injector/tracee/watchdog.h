/* SPDX-License-Identifier: MIT */
/*
 * watchdog.h - kills the injector if it freezes while it holds a thread of the target.
 *
 * A held thread stays stopped for as long as the injector is: stopped by a debugger or by SIGSTOP,
 * stuck in a page fault on a dead disk, blocked inside ptrace() on a target that execs from a slow
 * file system. So a small process of ours watches the injector, and kills it when it has held a
 * thread for two seconds or more without a sign of life. The kernel then lets go of the thread, and
 * the guard frame (arch.h) brings it back to where it was; `heapinject detach` does the rest.
 *
 * It is a process and not a thread, because what stops the injector stops all its threads. It is in
 * a session of its own, so that Ctrl-Z and job control do not reach it. It counts time in its own
 * naps: on a machine that is suspended or starved it sleeps as well.
 */
#ifndef HI_WATCHDOG_H
#define HI_WATCHDOG_H

/*
 * Starts the watchdog, once per process. If it cannot start (no memory, no more processes)
 * everything works without it. Not while a thread is held. It ends when the injector does.
 */
void watchdog_start(void);
/*
 * Ends it. For a process that is about to give up its rights: it may not be able to later, and then
 * the kernel does not do it at its death, either.
 */
void watchdog_stop(void);
/*
 * From watchdog_begin until watchdog_end signs of life (watchdog_progress) are expected. Not
 * nested.
 */
void watchdog_begin(void);
void watchdog_end(void);
void watchdog_progress(void);

#endif
