/* SPDX-License-Identifier: MIT */
/*
 * unsampled_frees.h - counts some of the frees of blocks that are no samples (struct
 * hi_unsampled_frees, hi_wire.h).
 */
#ifndef PAYLOAD_UNSAMPLED_FREES_H
#define PAYLOAD_UNSAMPLED_FREES_H

#include "hook_scope.h"

/* Where there are sentinels. */
void unsampled_frees_count(struct hook_scope *scope, uint64_t address);

/*
 * To be called when a hook is about to free a block that is no sample, or NULL. The block must be
 * valid: its allocator is asked for its size.
 */
static inline void unsampled_frees_look(struct hook_scope *scope, uint64_t address)
{
	if (scope->event.state->no_sentinel)
		unsampled_frees_count(scope, address);
}

#endif
