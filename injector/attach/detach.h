/* SPDX-License-Identifier: MIT */
/*
 * detach.h - docs/architecture.md "Detach, in order": leaves the target as it was found, proves it,
 * and fills in the receipt.
 */
#ifndef HI_DETACH_H
#define HI_DETACH_H

#include "attachment.h"
#include "receipt.h"

/*
 * Works from attachment->control, attachment->memory and the payload image alone, so it serves a
 * session of our own and one whose injector died. Idempotent: a failed detach may be repeated, now
 * or by another process. Returns 0 if nothing of ours is left (or an inert gate page by intention),
 * else the first error.
 */
int detach(struct attachment *attachment, struct receipt *out_receipt);

/*
 * For a target in which only descriptors (attachment->leftover_fd) are left: closes them in the
 * target.
 */
int detach_descriptors(struct attachment *attachment);

#endif
