/* SPDX-License-Identifier: MIT */
/*
 * mapping_functions.h - the C library's functions that map and unmap memory (HI_HOOKS, MAPPING).
 *
 * They belong to no allocator, and allocators call them. Here they are made functions of the first
 * one, so that they are hooked with it. Only at their entry: the C library's own calls, those of
 * its malloc among them, pass no slot. Nothing here writes.
 */
#ifndef HI_MAPPING_FUNCTIONS_H
#define HI_MAPPING_FUNCTIONS_H

#include "entries.h"

/* Adds them to the first allocator. -ENOENT: the C library is not found, or one of them is not. */
must_check int mapping_functions_find(const struct elf_images *images,
				      struct allocators *allocators);
/* True if each of them that was found is hooked at its entry. */
bool mapping_functions_are_hooked(const struct allocators *allocators,
				  const struct entries *entries);

#endif
