/* SPDX-License-Identifier: MIT */
/*
 * session_memory.h - the memory of the process, as a session records it: without what heapinject
 * has in it.
 */
#ifndef HI_SESSION_MEMORY_H
#define HI_SESSION_MEMORY_H

#include "session_state.h"

/*
 * As the kernel has it, with what is ours, which is read at the same moment. All 0 if it has ended.
 */
struct proc_status session_read_memory(struct session *session);
/*
 * Sends it as a MEMORY record, without what heapinject has mapped into the process. Nothing is sent
 * of a process that has ended. 0 or negative errno.
 */
int session_send_memory(struct session *session, const struct proc_status *status);

#endif
