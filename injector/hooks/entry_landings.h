/* SPDX-License-Identifier: MIT */
/* entry_landings.h - entries behind a landing pad: does only the pad lead to them? */
#ifndef HI_ENTRY_LANDINGS_H
#define HI_ENTRY_LANDINGS_H

#include "elf_images.h"
#include "entries.h"

/*
 * Drops entries whose jump would replace an instruction that code of the object leads to, as the
 * head of a loop: what arrives there is no call.
 */
void entry_landings_check(const struct elf_images *images, struct entries *entries);

#endif
