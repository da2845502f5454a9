/* SPDX-License-Identifier: MIT */
/* entries_find.h - the search for functions that can be hooked at their entry, see entries.h. */
#ifndef HI_ENTRIES_FIND_H
#define HI_ENTRIES_FIND_H

#include "elf_images.h"
#include "entries.h"

/*
 * Finds which of the allocators' functions can be hooked at their entry. memory may be NULL: then
 * the code is assumed to be as it will be once all changes of the injector have been removed.
 * -ENOMEM.
 */
must_check int entries_find(const struct elf_images *images, const struct maps *maps,
			    const struct memory *memory, const struct allocators *allocators,
			    struct entries *out_entries);

#endif
