/* SPDX-License-Identifier: MIT */
/*
 * joined_names.h - the names of one address in the form of pprof's lists: the function that owns
 * the code, and after "--" each function that is inlined into it.
 */
#ifndef HI_JOINED_NAMES_H
#define HI_JOINED_NAMES_H

#include "profile.h"

/*
 * Gives the names to a frame that has none. Splits them in place; the innermost call is the last of
 * them. 0 or -ENOMEM.
 */
int joined_names_apply(struct profile_frame *frame, char *names);

#endif
