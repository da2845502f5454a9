/* SPDX-License-Identifier: MIT */
/*
 * Room cmd/top/: `heapinject top`, a session live at a terminal.
 *
 *   top.h             start here
 *   pick.h            the screen of all processes; processes.h are these
 *   viewer.h           the screen of one session; page.h is text over all of it
 *   glance.h            what is known of the session; order.h: which of it is shown
 *   job.h, events.h   work in other processes, and what is waited for
 *   screen.h          the terminal; ncurses is used there only
 *
 * Uses cmd/session/ for all that it asks of a session, and cmd/output/ for the sandbox in which a
 * profile is read; of the analyzer it uses only hi_analyzer.h.
 */

/*
 * top.h - `heapinject top`: takes the terminal, and gives it back as it was, whatever ends it.
 */
#ifndef HI_TOP_H
#define HI_TOP_H

#include <sys/types.h>

/*
 * pid: 0 = the user picks one. attach: begins a session, as `attach --detached`; called in a
 * process of its own. Returns an exit code of hi_exit.h.
 */
int top_run(pid_t pid, int (*attach)(pid_t pid));

#endif
