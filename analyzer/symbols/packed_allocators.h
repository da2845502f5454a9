/* SPDX-License-Identifier: MIT */
/*
 * packed_allocators.h - finds an allocator inside the program that only its packed symbol table
 * (mini_debug.h) names. The injector reads the other tables before a session begins, but it unpacks
 * nothing that a target chose.
 */
#ifndef HI_PACKED_ALLOCATORS_H
#define HI_PACKED_ALLOCATORS_H

#include "profile.h"

/*
 * Sets meta.unhooked if it is not set yet and such an allocator is found. The caller then has to
 * make the caveats anew. ask_fd: as in symbols.h. 0 or -ENOMEM.
 */
int packed_allocators_find(struct profile *profile, int ask_fd);

#endif
