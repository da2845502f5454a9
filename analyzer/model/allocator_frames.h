/* SPDX-License-Identifier: MIT */
/*
 * allocator_frames.h - cuts off the frames in which an allocator serves a call. Profilers that are
 * part of an allocator (tcmalloc's, jemalloc's) have them in every stack.
 *
 * As in google-pprof and jeprof, the outermost function of the allocator (malloc, operator new,
 * tc_new) and all that it called go, whatever that is called; the names of static functions may be
 * missing, or be those of others. Unlike in these tools, all code of the allocator's library counts
 * as well, and a stack keeps a frame in any case.
 */
#ifndef HI_ALLOCATOR_FRAMES_H
#define HI_ALLOCATOR_FRAMES_H

#include "profile.h"

/* Whether the function, by its short name, is an allocator's: what programs call, or its own. */
bool allocator_frames_has(const char *function);
/*
 * Cuts the stacks of the profile, whose frames have their names. Stacks may become equal; they stay
 * apart. Nothing may be added to the profile afterwards. 0 or -ENOMEM.
 */
int allocator_frames_cut(struct profile *profile);

#endif
