/* SPDX-License-Identifier: MIT */
/*
 * nesting.h - which of the allocator's functions reach others of them, so that a block is counted once: by the function that was called first.
 *
 * The code says it: a call or a jump to a function that is hooked at its entry, or by way of a slot of its own object, which is hooked either way. A function's
 * own code is looked through, and that of the functions that it calls or jumps to, so who allocates through one helper is found. Deeper, in all allocators that
 * were looked at, lies only what reports errors.
 */
#ifndef HI_NESTING_H
#define HI_NESTING_H

#include "entries.h"

/* Fills in what entries say of nesting; of all functions of the allocator, those that are hooked by slots included. -ENOMEM. */
must_check int nesting_find(const struct elf_images *images, const struct allocator *allocator, struct entries *entries);

#endif
