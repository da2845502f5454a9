/* SPDX-License-Identifier: MIT */
/*
 * restore.h - writes back what the journal lists: the first instructions of functions and the
 * slots, so that no call newly comes to the gate. What was done goes into the receipt.
 *
 * attachment->gadgets should have been found; without them all threads are stopped instead of one.
 */
#ifndef HI_RESTORE_H
#define HI_RESTORE_H

#include "attachment.h"
#include "receipt.h"

/*
 * Restores the code of hooked functions. Code that another program has changed meanwhile (a
 * breakpoint) is left alone: which bytes appear when the breakpoint is removed cannot be known, and
 * they may well lead to the gate. -ETXTBSY: there is such code. -EIO: the code cannot be read, or
 * is not as it was in the end.
 */
must_check int restore_code(struct attachment *attachment, int borrow_deadline_ms,
			    struct receipt *receipt);
/* -EAGAIN: not all threads could be stopped; slots of libraries that may be unloaded are left. */
must_check int restore_slots(struct attachment *attachment, struct receipt *receipt);

#endif
