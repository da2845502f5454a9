/* SPDX-License-Identifier: MIT */
/*
 * heir.h - the process has exited, or replaced its program, and others live on in the memory that it had (memory_sharers.h), with all of ours in it. One of
 * them takes its place, so that detach can still do its work.
 */
#ifndef HI_HEIR_H
#define HI_HEIR_H

#include "attachment.h"

/*
 * 0: attachment is of another process now, in the same memory. -ESRCH: nobody is left in it, as nearly always; children of vfork, which are about to leave it,
 * are waited for.
 */
must_check int heir_take(struct attachment *attachment);

#endif
