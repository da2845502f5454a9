/* SPDX-License-Identifier: MIT */
/*
 * force_write.h - writing to read-only pages of the target where /proc/PID/mem may not.
 *
 * GOT slots under RELRO lie in such pages. Since Linux 6.12 a kernel can be told (proc_mem.force_override=never or ptrace) that this file shall respect page
 * protections; ptrace's own way of writing, a word at a time to a stopped thread, still does not.
 */
#ifndef HI_FORCE_WRITE_H
#define HI_FORCE_WRITE_H

#include "memory.h"

/*
 * For memory.force. Through a thread that the caller holds already, if there is one; else one is stopped for it, and noticed no more than any thread that we
 * borrow. -EAGAIN: none could be stopped. -EFAULT: not mapped.
 */
must_check int force_write(const struct memory *memory, remote_addr to, const void *from, size_t size);

#endif
