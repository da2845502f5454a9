/* SPDX-License-Identifier: MIT */
/*
 * entry_relays.h - where the jump at a function leads whose first instruction is too short for one
 * to the gate: to a relay in the padding before the function, or in a page of its own (entries.h).
 */
#ifndef HI_ENTRY_RELAYS_H
#define HI_ENTRY_RELAYS_H

#include "entries.h"
#include "entry_code.h"
#include "must_check.h"

/*
 * Finds a place for each relay that is needed. Entries for which there is none, or whose jump would
 * end in bytes that change for another function, are dropped. takes_heap: as of struct allocators.
 * 0 or -ENOMEM.
 */
must_check int entry_relays_find(const struct elf_images *images, const struct entry_code *code,
				 bool takes_heap, struct entries *entries);

#endif
