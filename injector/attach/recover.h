/* SPDX-License-Identifier: MIT */
/* recover.h - what an injector that died left in a target: found by name, read from the target's memory, ready for detach(). */
#ifndef HI_RECOVER_H
#define HI_RECOVER_H

#include "attachment.h"

/*
 * Fills an attachment_open'ed attachment: a copy of the control block, leftover descriptors, the payload image. Everything in the block is the target's word
 * and is checked. -ENOENT: nothing of ours is there. -EPROTO: there is something, but no control block that we understand (another version).
 */
must_check int recover(struct attachment *attachment);

#endif
