/* SPDX-License-Identifier: MIT */
/*
 * nesting.h - which of the allocator's functions call others of them, so that a block is counted
 * only once: by the function that was called first.
 *
 * Found by decoding the code: a call or jump to a function that is hooked at its entry, or a call
 * or jump through a slot of its own object, whether that function is hooked by entry or by slots.
 * The decoder examines a function's own code and the code of the functions that it calls or jumps
 * to, so a function that allocates through one helper is found. In all allocators that were
 * examined, only error reporting lies deeper.
 */
#ifndef HI_NESTING_H
#define HI_NESTING_H

#include "entries.h"

/*
 * Fills in the nesting fields of entries, for all functions of all allocators, including those that
 * are hooked by slots. -ENOMEM.
 */
must_check int nesting_find(const struct elf_images *images, const struct allocators *allocators,
			    struct entries *entries);

#endif
