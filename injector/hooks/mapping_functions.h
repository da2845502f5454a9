/* SPDX-License-Identifier: MIT */
/*
 * mapping_functions.h - the C library's functions that map and unmap memory (HI_HOOKS, MAPPING).
 *
 * They belong to no allocator, and allocators call them. Here they are made functions of the first
 * one, so that they are hooked with it. Only at their entry: the C library's own calls, those of
 * its malloc among them, pass no slot. And all but brk or none: without one of them it would not
 * be known what is still mapped. Nothing here writes.
 */
#ifndef HI_MAPPING_FUNCTIONS_H
#define HI_MAPPING_FUNCTIONS_H

#include "entries.h"

/* Adds them to the first allocator. None, if the C library or one of them is not found. */
void mapping_functions_find(const struct elf_images *images, struct allocators *allocators);
/*
 * Takes them out again if one is not hooked at its entry: all of them, or brk alone. Does nothing
 * where they were not asked for.
 */
void mapping_functions_settle(struct allocators *allocators, struct entries *entries);
/* Whether they were not taken out. */
bool mapping_functions_are_hooked(const struct allocators *allocators);

#endif
