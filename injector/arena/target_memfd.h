/* SPDX-License-Identifier: MIT */
/*
 * target_memfd.h - opens our own descriptor of a memory file that a thread of the target was just
 * made to create.
 *
 * The file is reached by its number in the target's descriptor table. Any other thread may
 * meanwhile have put another file under that number: one that the target may only read, and that
 * the injector, which has more rights, would write to. So only an empty memory file of the right
 * name is opened for writing.
 */
#ifndef HI_TARGET_MEMFD_H
#define HI_TARGET_MEMFD_H

#include <stdbool.h>

#include "memory.h"

/*
 * number: the result of memfd_create; name: its argument; it must have been given
 * MFD_ALLOW_SEALING. The caller closes *out_fd. -ESTALE: another file is there now.
 */
must_check int target_memfd_open(pid_t pid, pid_t tid, int number, const char *name, int *out_fd);

/*
 * Does this number still refer to a memory file of ours, or to that of the probes? To be asked
 * right before it is closed: another thread may have closed it (close_range) and opened a file of
 * its own, which must stay open. Some microseconds remain between the answer and the close.
 */
bool target_memfd_is_ours(pid_t pid, pid_t tid, int number);

#endif
