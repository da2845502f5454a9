/* SPDX-License-Identifier: MIT */
/*
 * hold.h - what a tracing thread does for itself while it holds threads of the target: whatever delays it delays them.
 *
 * It goes before all others (pace.h); only ours: the priority of the held thread is never touched. And the watchdog is told.
 */
#ifndef HI_HOLD_H
#define HI_HOLD_H

/* One call each for each thread of the target, from the tracing thread: before it is seized, and when it has been let go. */
void hold_begin(void);
void hold_end(void);
/* We are alive. Cheap. */
void hold_progress(void);

#endif
