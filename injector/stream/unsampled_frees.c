/* SPDX-License-Identifier: MIT */
/* unsampled_frees.c - see unsampled_frees.h. */
#include "unsampled_frees.h"

#include <math.h>

/* The target can write anything to the counters: they are only ever subtracted and scaled. */
uint64_t unsampled_frees_take(struct unsampled_frees *frees,
			      const struct hi_unsampled_frees *counted, uint64_t homes)
{
	const uint32_t sentinels = __atomic_load_n(&counted->sentinels, __ATOMIC_RELAXED);
	const double now = homes ? fmin(1, (double)sentinels / (double)homes) : 0;
	uint64_t sum = 0;
	/* if the payload has lowered it meanwhile, the geometric mean is near the truth */
	frees->share = frees->share > now ? sqrt(frees->share * now) : now;
	for (size_t i = 0; i < HI_SIZE_CLASSES && frees->share > 0; i++) {
		const uint64_t count = __atomic_load_n(&counted->count[i], __ATOMIC_RELAXED),
			       bytes = __atomic_load_n(&counted->bytes[i], __ATOMIC_RELAXED);
		const uint64_t more = count - frees->last_count[i];
		sum += more;
		frees->seen[i] += more;
		frees->count[i] += (double)more / frees->share;
		frees->bytes[i] += (double)(bytes - frees->last_bytes[i]) / frees->share;
		frees->last_count[i] = count;
		frees->last_bytes[i] = bytes;
	}
	frees->share = now;
	return sum;
}

static uint64_t whole(double value)
{
	return value < 0x1p62 ? (uint64_t)(value + 0.5) : 1ull << 62;
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
				.count = whole(frees->count[i]),
				.bytes = whole(frees->bytes[i]),
			};
	return classes;
}
