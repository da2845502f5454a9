/* SPDX-License-Identifier: MIT */
/* process_growth.c - how fast the process grew. See answer.h. */
#include "answer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "hi_slope.h"

#define NS_PER_S 1e9
/*
 * An allocator takes memory in steps of this many bytes, at most, without need (glibc's M_TOP_PAD
 * is 128 KiB), and keeps as much.
 */
#define STEP_BYTES (256u << 10)
/* of the window: what happens first may be the attach, or blocks that become visible */
#define FIRST 0.1

/* The interval is never narrower than the steps in which memory grows. */
static void widen(struct process_growth *growth, double seconds)
{
	const double step = seconds > 0 ? STEP_BYTES / seconds : STEP_BYTES;

	growth->low = fmin(growth->low, growth->slope - step);
	growth->high = fmax(growth->high, growth->slope + step);
}

/* Growth of what is resident and not anonymous, from the first moment to the last. */
static double other_growth(const struct profile_meta *meta)
{
	const struct profile_moment *begin = meta->moment, *end = begin + meta->moment_count - 1;

	if (!begin->resident || !end->resident)
		return 0;
	return ((double)end->resident - (double)end->anonymous) -
	       ((double)begin->resident - (double)begin->anonymous);
}

int process_growth_of(const struct profile_meta *meta, struct process_growth *out_growth)
{
	const size_t count = meta->moment_count;
	double *time = calloc(2 * count + 1, sizeof(*time)), *value;
	struct slope slope;
	size_t used = 0;
	int err = time ? 0 : -ENOMEM;

	*out_growth = (struct process_growth){0};
	value = time ? time + count : NULL;
	for (size_t i = 0; i < count && !err; i++) {
		const struct profile_moment *moment = &meta->moment[i];

		if (!moment->anonymous ||
		    (double)moment->time_ns < FIRST * (double)meta->duration_ns)
			continue;
		time[used] = (double)moment->time_ns / NS_PER_S;
		value[used++] = (double)moment->anonymous;
	}
	if (!err && used >= SLOPE_POINTS_MIN) {
		err = slope_of(time, value, used, &slope);
		if (!err && isfinite(slope.low) && isfinite(slope.high)) {
			*out_growth = (struct process_growth){
				.is_known = true,
				.slope = slope.value,
				.low = slope.low,
				.high = slope.high,
				.bytes = (double)meta->moment[count - 1].anonymous -
					 (double)meta->moment[0].anonymous,
				.other_bytes = other_growth(meta),
			};
			widen(out_growth, time[used - 1] - time[0]);
		}
	}
	free(time);
	return err;
}
