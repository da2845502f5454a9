/* SPDX-License-Identifier: MIT */
/*
 * watch.h - while attached: libraries that come and go are patched, described and given unwind tables; new stacks are made readable. All from outside, nothing
 * stopped.
 */
#ifndef HI_WATCH_H
#define HI_WATCH_H

#include "attachment.h"
#include "pump.h"

/*
 * One look, some tens of microseconds when nothing changed. -EAGAIN: the dynamic linker is at work, so that the list of objects cannot be trusted just now.
 * -ESRCH: the target is gone. Other errors are about one change and not fatal.
 */
must_check int watch_round(struct attachment *attachment, struct pump *pump);

#endif
