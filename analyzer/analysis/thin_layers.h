/* SPDX-License-Identifier: MIT */
/*
 * thin_layers.h - which functions are only a way to the allocator, by what the stacks of a profile
 * show. user_frames.h has the rule and what can go wrong with it.
 */
#ifndef HI_THIN_LAYERS_H
#define HI_THIN_LAYERS_H

#include "functions.h"

/*
 * is_skipped: by call, whether it is an allocator's or a library's, 0 = it is not. layers: by
 * function; before the call, whether it may be a layer, and afterwards, whether it is one: on all
 * stacks it is called by others than these, calls nothing but these, and at least min_callers other
 * functions lead to it. 0 or -ENOMEM.
 */
int thin_layers_find(const struct profile *profile, const struct functions *functions,
		     const uint8_t *is_skipped, uint32_t min_callers, bool *layers);

#endif
