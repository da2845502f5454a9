/* SPDX-License-Identifier: MIT */
/*
 * watch.h - while attached: patches, describes and builds unwind tables for libraries that come and
 * go; makes new stacks readable. Looking stops no thread. Writing slots borrows one thread, or
 * stops all for libraries that may be unloaded (live_patch.h, stop_world.h).
 */
#ifndef HI_WATCH_H
#define HI_WATCH_H

#include "attachment.h"
#include "pump.h"

/*
 * Notes which libraries may be unloaded, when the images have been read and the allocators been
 * found. -ENOMEM.
 */
must_check int watch_begin(struct attachment *attachment);
/*
 * Looks once for changes, by one system call if there are none: then attachment->is_unchanged is
 * set. Otherwise attach_entries_yield and attachment_check have to be called after it. -EAGAIN: the
 * dynamic linker is at work, so that the list of objects cannot be trusted just now. -ESRCH: the
 * target is gone. Other errors concern one change and are not fatal.
 */
must_check int watch_round(struct attachment *attachment, struct pump *pump);

#endif
