/* SPDX-License-Identifier: MIT */
/*
 * unsampled_frees.h - adds up what the payload counted of frees of unsampled blocks, each by the
 * share of the frees that was looked at when it was counted (struct hi_unsampled_frees, hi_wire.h).
 */
#ifndef HI_INJECTOR_UNSAMPLED_FREES_H
#define HI_INJECTOR_UNSAMPLED_FREES_H

#include <stdbool.h>

#include "hi_stream.h"
#include "hi_wire.h"

struct unsampled_frees {
	uint64_t last_count[HI_SIZE_CLASSES], last_bytes[HI_SIZE_CLASSES];
	uint64_t seen[HI_SIZE_CLASSES];
	double count[HI_SIZE_CLASSES], bytes[HI_SIZE_CLASSES]; /* estimates */
	double share;                                          /* of the frees, now */
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
