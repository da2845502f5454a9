/* SPDX-License-Identifier: MIT */
/*
 * target_memfd.h - our own descriptor on a memory file that a thread of the target was made to create a moment ago.
 *
 * It is reached by its number in the target's descriptor table, and there any other thread may meanwhile have put another file in its place: one that the
 * target may only read, and that we, who have more rights, would write to. So nothing is opened for writing but an empty memory file of the right name.
 */
#ifndef HI_TARGET_MEMFD_H
#define HI_TARGET_MEMFD_H

#include <stdbool.h>

#include "memory.h"

/* number, name: as memfd_create was given and gave them; with MFD_ALLOW_SEALING. The caller closes. -ESTALE: another file is there now. */
must_check int target_memfd_open(pid_t pid, pid_t tid, int number, const char *name, int *out_fd);

/*
 * Is a memory file of ours still behind this number? To be asked right before it is closed: another thread may have closed it (close_range) and opened a file
 * of its own, and that one must stay. Between the answer and the close some microseconds are left.
 */
bool target_memfd_is_ours(pid_t pid, pid_t tid, int number);

#endif
