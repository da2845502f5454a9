/* SPDX-License-Identifier: MIT */
/*
 * named_signatures.h - before a process is attached to: where the functions are that the user has
 * named, and whether debug information says that their arguments are what they were named.
 *
 * That information is read by a process without rights. Prints its own messages.
 */
#ifndef HI_NAMED_SIGNATURES_H
#define HI_NAMED_SIGNATURES_H

#include "elf_images.h"
#include "named_function.h"
#include "preflight.h"

/*
 * named: the types of their arguments are filled in where they are known. HI_EXIT_OK, or
 * HI_EXIT_REFUSED: one is not found, or is not what it was named.
 */
int named_signatures_check(const struct preflight *preflight, const struct elf_images *images,
			   bool is_quiet, struct named_functions *named);

#endif
