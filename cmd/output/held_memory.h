/* SPDX-License-Identifier: MIT */
/* held_memory.h - memory that a process has before it is needed, and keeps. */
#ifndef HI_HELD_MEMORY_H
#define HI_HELD_MEMORY_H

#include <stddef.h>

#include "must_check.h"

/*
 * Gets so many bytes of heap from the kernel, which malloc gives out later, and locks all that the
 * process has now, its code included. To be called before anything large or shared is mapped.
 * Negative errno: not locked (RLIMIT_MEMLOCK), but there.
 */
must_check int held_memory_take(size_t heap_bytes);

#endif
