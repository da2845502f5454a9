/* SPDX-License-Identifier: MIT */
/*
 * pace.h - how our threads share the CPUs with the target's.
 *
 * Mostly they give way: while we read its memory or name functions, a thread of it that wakes must not wait for us. While a tracing thread holds one of its
 * threads it is the other way round, where that is permitted (CAP_SYS_NICE): of the time that a thread stands still on a busy machine most is our waiting for a
 * CPU.
 */
#ifndef HI_PACE_H
#define HI_PACE_H

/*
 * For this thread, and those and the processes that it will start: our share of the CPUs stays what it was, but who wakes and wants less at a time than we do
 * goes first. From Linux 6.6 on a thread that wakes is served by deadline, which is its slice from now, and else would wait for us until the next tick; asking
 * for long slices is understood since 6.12.
 */
void pace_give_way(void);

/* For this thread: before all ordinary threads of the machine, until calmed down. One that is real-time already is left as it is. */
void pace_boost(void);
void pace_restore(void);

#endif
