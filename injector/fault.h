/* SPDX-License-Identifier: MIT */
/*
 * fault.h - the seam through which tests make the n-th remote operation fail.
 *
 * Every operation that touches the target (ptrace requests, remote system calls, writes to its memory) asks fault_next() first. In ordinary builds it is
 * always 0. With FAULTS=1 the environment decides: HEAPINJECT_FAULT=N makes the N-th ask return -EIO; HEAPINJECT_KILL=N kills the injector there.
 * HEAPINJECT_FAULT_COUNT=1 prints the number of asks at exit, so that a test can enumerate them. Thread-safe.
 */
#ifndef HI_FAULT_H
#define HI_FAULT_H

#ifdef HI_FAULTS
int fault_next(const char *operation);
/* For tests in one process: begin to count anew; asks since then. */
void fault_reset(void);
unsigned long fault_count(void);
#else
static inline int fault_next(const char *operation)
{
	(void)operation;
	return 0;
}
#endif

#endif
