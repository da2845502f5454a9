/* SPDX-License-Identifier: MIT */
/*
 * hold.h - what a tracing thread does for itself while it holds threads of the target: whatever
 * delays the tracing thread delays them.
 *
 * It raises its own priority (pace.h); the priority of the held thread is never touched. And it
 * informs the watchdog.
 */
#ifndef HI_HOLD_H
#define HI_HOLD_H

/*
 * Both are called once for each thread of the target, from the tracing thread: before it is seized,
 * and when it has been let go.
 */
void hold_begin(void);
void hold_end(void);
/* Signals the watchdog that the injector is alive. Cheap. */
void hold_progress(void);

#endif
