/* SPDX-License-Identifier: MIT */
/*
 * packed_allocators.h - an allocator inside of the program that only its packed symbol table (mini_debug.h) names. The injector, which reads the other tables
 * before a session begins, unpacks nothing that a target chose.
 */
#ifndef HI_PACKED_ALLOCATORS_H
#define HI_PACKED_ALLOCATORS_H

#include "profile.h"

/* Sets meta.unhooked where that is not known yet and one is found; caveats are the caller's to make anew. ask_fd: as in symbols.h. 0 or -ENOMEM. */
int packed_allocators_find(struct profile *profile, int ask_fd);

#endif
