/* SPDX-License-Identifier: MIT */
/*
 * pace.h - how the injector's threads share the CPUs with the target's.
 *
 * Mostly they give way: while the injector reads memory or names functions, a thread of the target
 * that wakes must not wait for it. While a tracing thread holds a thread of the target it is the
 * other way round, where that is permitted (CAP_SYS_NICE): on a busy machine, most of the time that
 * a thread is stopped is the tracing thread's wait for a CPU.
 */
#ifndef HI_PACE_H
#define HI_PACE_H

/*
 * For this thread, and the threads and processes that it will start. Their share of the CPUs stays
 * the same, but a thread that wakes and wants a shorter slice runs first. From Linux 6.6 on, a
 * waking thread is scheduled by deadline, which is its slice from now; otherwise it would wait for
 * us until the next tick. Requests for long slices are understood since 6.12.
 */
void pace_give_way(void);
/* Takes that back, in a child that is to execute a program of the user's. */
void pace_take_back(void);

/*
 * For this thread: before all ordinary threads of the machine, until pace_restore. A thread that is
 * already real-time is left as it is.
 */
void pace_boost(void);
void pace_restore(void);

#endif
