/* SPDX-License-Identifier: MIT */
/* overhead.c - see overhead.h. */
#include "overhead.h"

#include "hi_wire.h"

#define WINDOW_NS 100000000ull    /* of CPU time: ten ticks of the kernel's clock, by which it is known */
#define STEP_MAX 6u               /* doublings at a time: what one window says is not worth more */
#define INTERVAL_MAX (1ull << 47) /* more seldom is never: no block is larger */
#define CALM_SHARE 4u             /* going back doubles the cost; it must then still be well within the budget, or it would swing to and fro */
#define CALM_WINDOWS 8u

void overhead_open(struct overhead *overhead, uint32_t budget_ppm, uint64_t interval)
{
	*overhead = (struct overhead){.budget_ppm = budget_ppm};
	while (overhead->doublings_max < HI_DOUBLINGS_MAX && interval << overhead->doublings_max < INTERVAL_MAX)
		overhead->doublings_max++;
}

/* How often the cost must be halved to fit. */
static uint32_t steps_to(uint64_t cost, uint64_t budget)
{
	uint32_t steps = 0;
	while (steps < STEP_MAX && cost >> steps > budget)
		steps++;
	return steps;
}

bool overhead_step(struct overhead *overhead, uint64_t payload_ns, uint64_t target_ns)
{
	const uint64_t cpu = target_ns - overhead->target_ns, cost = payload_ns - overhead->payload_ns;
	/* A figure that could not be read is 0. */
	if (!overhead->budget_ppm || target_ns < overhead->target_ns || payload_ns < overhead->payload_ns || cpu < WINDOW_NS)
		return false;
	const uint64_t budget = (uint64_t)((double)cpu * overhead->budget_ppm / 1e6);
	const uint32_t before = overhead->doublings;
	overhead->target_ns = target_ns;
	overhead->payload_ns = payload_ns;
	overhead->calm = cost < budget / CALM_SHARE ? overhead->calm + 1 : 0;
	overhead->doublings += steps_to(cost, budget);
	if (overhead->doublings > overhead->doublings_max)
		overhead->doublings = overhead->doublings_max;
	if (overhead->calm >= CALM_WINDOWS && overhead->doublings) {
		overhead->doublings--;
		overhead->calm = 0;
	}
	return overhead->doublings != before;
}
