/* SPDX-License-Identifier: MIT */
/* overhead.c - see overhead.h. */
#include "overhead.h"

#include "hi_wire.h"

/*
 * What a sample may cost, in nanoseconds, from its allocation to its free. Time beyond that is not
 * spent on the samples of this window, but on distinguishing frees of unsampled blocks from frees
 * of earlier samples that are still live. Taking fewer samples from now on would not change that.
 */
#define SAMPLE_NS_MAX 10000u
/* CPU time of a window: ten ticks of the kernel's clock, in which CPU time is measured */
#define WINDOW_NS 100000000ull
/* largest change of interval_shift at a time: one window is not reliable enough for more */
#define STEP_MAX 6u
/* a larger interval would mean no samples at all, as no block is larger */
#define INTERVAL_MAX (1ull << HI_ARCH_ADDRESS_BITS)
/*
 * lowering the shift doubles the cost, which must then still be well within the budget, or the
 * shift would oscillate
 */
#define CHEAP_SHARE 4u
#define CHEAP_WINDOWS 8u

void overhead_open(struct overhead *overhead, uint32_t budget_ppm, uint64_t interval)
{
	*overhead = (struct overhead){.budget_ppm = budget_ppm};
	while (overhead->interval_shift_max < HI_INTERVAL_SHIFT_MAX &&
	       interval << overhead->interval_shift_max < INTERVAL_MAX)
		overhead->interval_shift_max++;
}

/* The number of times that the cost must be halved to fit the budget, at most STEP_MAX. */
static uint32_t steps_to(uint64_t cost, uint64_t budget)
{
	uint32_t steps = 0;
	while (steps < STEP_MAX && cost >> steps > budget)
		steps++;
	return steps;
}

bool overhead_step(struct overhead *overhead, const struct hi_stream_stats *stats)
{
	const uint64_t cpu = stats->target_cpu_ns - overhead->target_ns,
		       samples = stats->samples - overhead->samples;
	uint64_t cost = stats->payload_cpu_ns - overhead->payload_ns;
	if (!overhead->budget_ppm || stats->target_cpu_ns < overhead->target_ns ||
	    stats->payload_cpu_ns < overhead->payload_ns || cpu < WINDOW_NS)
		return false;
	const uint64_t budget = (uint64_t)((double)cpu * overhead->budget_ppm / 1e6);
	const uint32_t before = overhead->interval_shift;
	overhead->samples = stats->samples;
	overhead->target_ns = stats->target_cpu_ns;
	overhead->payload_ns = stats->payload_cpu_ns;
	if (cost / SAMPLE_NS_MAX > samples)
		cost = samples * SAMPLE_NS_MAX;
	overhead->cheap_windows = cost < budget / CHEAP_SHARE ? overhead->cheap_windows + 1 : 0;
	overhead->interval_shift += steps_to(cost, budget);
	if (overhead->interval_shift > overhead->interval_shift_max)
		overhead->interval_shift = overhead->interval_shift_max;
	if (overhead->cheap_windows >= CHEAP_WINDOWS && overhead->interval_shift) {
		overhead->interval_shift--;
		overhead->cheap_windows = 0;
	}
	return overhead->interval_shift != before;
}
