/* SPDX-License-Identifier: MIT */
/*
 * unsampled_frees.h - reads what the payload counted of frees of unsampled blocks (struct
 * hi_unsampled_frees, hi_wire.h).
 */
#ifndef HI_INJECTOR_UNSAMPLED_FREES_H
#define HI_INJECTOR_UNSAMPLED_FREES_H

#include <stdbool.h>

#include "hi_stream.h"
#include "hi_wire.h"

struct unsampled_frees {
	uint64_t seen[HI_SIZE_CLASSES], count[HI_SIZE_CLASSES], bytes[HI_SIZE_CLASSES];
	double share; /* of the frees, that is seen now; 0 = none is, or ever was */
};

/*
 * Takes what was counted since the last call. homes: number of occupancy bytes. Returns how many
 * frees that were.
 */
uint64_t unsampled_frees_take(struct unsampled_frees *frees,
			      const struct hi_unsampled_frees *counted, uint64_t homes);
/* Fills the variable part of a record; returns the number of classes. */
uint32_t unsampled_frees_list(const struct unsampled_frees *frees,
			      struct hi_stream_frees out_list[HI_SIZE_CLASSES]);

#endif
