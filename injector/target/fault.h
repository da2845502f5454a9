/* SPDX-License-Identifier: MIT */
/*
 * fault.h - the seam through which tests make the n-th remote operation fail.
 *
 * Every operation that touches the target (ptrace requests, remote system calls, writes to its memory) asks fault_next() first. In ordinary builds it is
 * always 0; steps between them that leave the target in another state ask, too. With FAULTS=1 the environment decides: HEAPINJECT_FAULT=N makes the N-th ask
 * return -EIO; HEAPINJECT_KILL=N kills the injector there, HEAPINJECT_STOP=N stops it (SIGSTOP). HEAPINJECT_FAULT_COUNT=1 prints the number of asks at exit, so
 * that a test can enumerate them. HEAPINJECT_FAULT_NO_FORCE=1 makes memory_write behave as on a kernel whose /proc/PID/mem respects page protections.
 * HEAPINJECT_FAULT_SLOW_WRITES=1 makes it write words of 8 bytes one byte after the other, with naps between those that change: whatever running threads could
 * see half done they then do see. Thread-safe.
 */
#ifndef HI_FAULT_H
#define HI_FAULT_H

#include <stdbool.h>

#ifdef HI_FAULTS
int fault_next(const char *operation);
/* The same for a step that cannot fail, or that must not: counted, and one to be killed or stopped at. */
void fault_pass(const char *step);
/* Is this variable set to a number other than zero? Never in ordinary builds. */
bool fault_is_set(const char *variable);
/* For tests in one process: begin to count anew; asks since then. */
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
