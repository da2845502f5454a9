/* SPDX-License-Identifier: MIT */
/* unsampled_frees.c - see unsampled_frees.h. */
#include "unsampled_frees.h"

#include <math.h>

/* The target can write anything to the counters: they are only copied. */
uint64_t unsampled_frees_take(struct unsampled_frees *frees,
			      const struct hi_unsampled_frees *counted, uint64_t homes)
{
	const uint32_t sentinels = __atomic_load_n(&counted->sentinels, __ATOMIC_RELAXED);
	uint64_t sum = 0;
	frees->share = homes ? fmin(1, (double)sentinels / (double)homes) : 0;
	for (size_t i = 0; i < HI_SIZE_CLASSES && homes; i++) {
		const uint64_t seen = __atomic_load_n(&counted->seen[i], __ATOMIC_RELAXED);
		sum += seen - frees->seen[i];
		frees->seen[i] = seen;
		frees->count[i] = __atomic_load_n(&counted->count[i], __ATOMIC_RELAXED);
		frees->bytes[i] = __atomic_load_n(&counted->bytes[i], __ATOMIC_RELAXED);
	}
	return sum;
}

static uint64_t bounded(uint64_t value)
{
	return value < 1ull << 62 ? value : 1ull << 62;
}

uint32_t unsampled_frees_list(const struct unsampled_frees *frees,
			      struct hi_stream_frees out_list[HI_SIZE_CLASSES])
{
	uint32_t classes = 0;
	for (uint32_t i = 0; i < HI_SIZE_CLASSES; i++)
		if (frees->seen[i])
			out_list[classes++] = (struct hi_stream_frees){
				.size_class = i,
				.seen = frees->seen[i] < UINT32_MAX ? (uint32_t)frees->seen[i]
								    : UINT32_MAX,
				.count = bounded(frees->count[i]),
				.bytes = bounded(frees->bytes[i]),
			};
	return classes;
}
