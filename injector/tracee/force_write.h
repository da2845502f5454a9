/* SPDX-License-Identifier: MIT */
/*
 * force_write.h - writes to read-only pages of the target where /proc/PID/mem may not.
 *
 * GOT slots under RELRO lie in such pages. Since Linux 6.12 a kernel can be configured
 * (proc_mem.force_override=never or ptrace) so that this file respects page protections. ptrace's
 * own way of writing, a word at a time to a stopped thread, still ignores them.
 */
#ifndef HI_FORCE_WRITE_H
#define HI_FORCE_WRITE_H

#include "memory.h"

/*
 * The function for memory.force. Writes through a thread that the caller already holds, if there is
 * one. Otherwise it stops one, which is as unnoticeable as borrowing. -EAGAIN: none could be
 * stopped. -EFAULT: not mapped.
 */
must_check int force_write(const struct memory *memory, remote_addr to, const void *from,
			   size_t size);

#endif
