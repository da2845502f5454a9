/* SPDX-License-Identifier: MIT */
/* peak.c - see peak.h. */
#include "peak.h"

#include "estimate.h"

#define WEIGHT_HASH 0x9e3779b97f4a7c15ull

double peak_weight(struct peak *peak, uint64_t bytes, uint64_t interval)
{
	struct peak_weight *known = &peak->known[(bytes ^ interval << 20) * WEIGHT_HASH >> (64 - __builtin_ctz(PEAK_WEIGHTS))];

	if (interval <= 1)
		return (double)bytes;
	if (known->bytes != bytes || known->interval != interval)
		*known = (struct peak_weight){.bytes = bytes, .interval = interval, .weight = estimate_row(1, bytes, interval, INUSE_SPACE).value};
	return known->weight;
}

static void push(struct peak *peak, const struct peak_free *pending)
{
	size_t at = peak->pending_count++;

	for (; at && peak->pending[(at - 1) / 2].time_ns > pending->time_ns; at = (at - 1) / 2)
		peak->pending[at] = peak->pending[(at - 1) / 2];
	peak->pending[at] = *pending;
}

/* The earliest one has gone; the last one takes its place, and sinks. */
static void pop(struct peak *peak)
{
	const struct peak_free last = peak->pending[--peak->pending_count];
	size_t at = 0, child;

	for (; (child = 2 * at + 1) < peak->pending_count; at = child) {
		if (child + 1 < peak->pending_count && peak->pending[child + 1].time_ns < peak->pending[child].time_ns)
			child++;
		if (last.time_ns <= peak->pending[child].time_ns)
			break;
		peak->pending[at] = peak->pending[child];
	}
	peak->pending[at] = last;
}

void peak_allocated(struct peak *peak, uint64_t time_ns, double bytes)
{
	if (time_ns > peak->now_ns)
		peak->now_ns = time_ns;
	peak->bytes += bytes;
	if (peak->bytes <= peak->most)
		return;
	/* Only now does it matter which of those that were told have been freed. */
	while (peak->pending_count && peak->pending[0].time_ns <= peak->now_ns) {
		peak->bytes -= peak->pending[0].bytes;
		pop(peak);
	}
	if (peak->bytes > peak->most) {
		peak->most = peak->bytes;
		peak->most_ns = peak->now_ns;
	}
}

void peak_freed(struct peak *peak, double bytes)
{
	peak->bytes -= bytes;
}

void peak_passed(struct peak *peak, uint64_t born_ns, uint64_t freed_ns, double bytes)
{
	peak_allocated(peak, born_ns, bytes);
	if (peak->pending_count < PEAK_PENDING)
		push(peak, &(struct peak_free){freed_ns, bytes});
	else
		peak_freed(peak, bytes);
}

void peak_settle(struct peak *peak)
{
	for (size_t i = 0; i < peak->pending_count; i++)
		peak->bytes -= peak->pending[i].bytes;
	peak->pending_count = 0;
}
