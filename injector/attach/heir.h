/* SPDX-License-Identifier: MIT */
/*
 * heir.h - the process has exited or replaced its program, but other processes live on in the
 * memory that it had (memory_sharers.h), with everything of ours in it. One of them takes its
 * place, so that detach can still do its work.
 */
#ifndef HI_HEIR_H
#define HI_HEIR_H

#include "attachment.h"

/*
 * 0: attachment now describes another process in the same memory. -ESRCH: no process is left in it,
 * as nearly always. Waits for children of vfork, which are about to leave the memory.
 */
must_check int heir_take(struct attachment *attachment);

#endif
