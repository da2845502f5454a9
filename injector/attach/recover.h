/* SPDX-License-Identifier: MIT */
/*
 * recover.h - finds by name what a dead injector left in a target, and reads it from the target's
 * memory, ready for detach().
 */
#ifndef HI_RECOVER_H
#define HI_RECOVER_H

#include "attachment.h"

/*
 * Fills an attachment that attachment_open opened: a copy of the control block, leftover
 * descriptors, the payload image. The target can have written anything in the block, so all of it
 * is checked. -ENOENT: nothing of ours is there. -EPROTO: something is there, but not a control
 * block that we understand (another version).
 */
must_check int recover(struct attachment *attachment);

#endif
