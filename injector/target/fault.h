/* SPDX-License-Identifier: MIT */
/*
 * fault.h - the interface through which tests make the n-th remote operation fail.
 *
 * Every operation that touches the target (ptrace requests, remote system calls, writes to its
 * memory) calls fault_next() first. Steps between such operations that leave the target in another
 * state call it too. In ordinary builds it always returns 0. With FAULTS=1 the environment decides:
 *   - HEAPINJECT_FAULT=N: the N-th call returns -EIO.
 *   - HEAPINJECT_KILL=N: the injector is killed there. HEAPINJECT_STOP=N: it is stopped there
 *     (SIGSTOP).
 *   - HEAPINJECT_FAULT_COUNT=1: the number of calls is printed at exit, so that a test can
 *     enumerate them.
 *   - HEAPINJECT_FAULT_NO_FORCE=1: memory_write behaves as on a kernel whose /proc/PID/mem respects
 *     page protections.
 *   - HEAPINJECT_FAULT_SLOW_WRITES=1: memory_write writes words of 8 bytes one byte after the
 *     other, with naps between the bytes that change. Then running threads do see every
 *     intermediate state that they could see. Thread-safe.
 */
#ifndef HI_FAULT_H
#define HI_FAULT_H

#include <stdbool.h>

#ifdef HI_FAULTS
int fault_next(const char *operation);
/*
 * The same for a step that cannot or must not fail: it is counted, and the injector can be killed
 * or stopped there.
 */
void fault_pass(const char *step);
/* Is this variable set to a number other than zero? Never in ordinary builds. */
bool fault_is_set(const char *variable);
/* For tests in one process: fault_reset restarts the count of calls; fault_count returns it. */
void fault_reset(void);
unsigned long fault_count(void);
#else
static inline int fault_next(const char *operation)
{
	(void)operation;
	return 0;
}
static inline void fault_pass(const char *step)
{
	(void)step;
}
static inline bool fault_is_set(const char *variable)
{
	(void)variable;
	return false;
}
#endif

#endif
