/* SPDX-License-Identifier: MIT */
/*
 * watchdog.h - nobody may freeze a thread of the target by freezing us.
 *
 * A thread that we hold stands still for as long as we do: stopped by a debugger or by SIGSTOP, stuck in a page fault on a dead disk, blocked inside ptrace()
 * on a target that execs from a slow file system. So a small process of ours looks on, and kills us when we have held a thread for two seconds and more without
 * a sign of life. The kernel then lets go of the thread, and the guard frame (arch.h) brings it back to where it was; `heapinject detach` does the rest.
 *
 * A process and not a thread, because what stops us stops all our threads; in a session of its own, so that Ctrl-Z and job control do not reach it. Time is
 * counted in its own naps: on a machine that is suspended or starved it sleeps as well.
 */
#ifndef HI_WATCHDOG_H
#define HI_WATCHDOG_H

/* Starts it, once a process; without one (no memory, no more processes) all goes on. Not while a thread is held. It ends when we do. */
void watchdog_start(void);
/* From here on signs of life are expected, until the end. Not nested. */
void watchdog_begin(void);
void watchdog_end(void);
void watchdog_progress(void);

#endif
