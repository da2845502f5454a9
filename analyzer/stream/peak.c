/* SPDX-License-Identifier: MIT */
/* peak.c - see peak.h. */
#include "peak.h"

#include "estimate.h"

#define WEIGHT_HASH 0x9e3779b97f4a7c15ull

double peak_weight(struct peak *peak, uint64_t bytes, uint64_t interval)
{
	struct peak_weight *known;

	if (interval <= HI_INTERVAL_EXACT)
		return (double)bytes;
	known = &peak->known[(bytes ^ interval << 20) * WEIGHT_HASH >>
			     (64 - __builtin_ctz(PEAK_WEIGHTS))];
	if (known->bytes != bytes || known->interval != interval)
		*known = (struct peak_weight){
			.bytes = bytes,
			.interval = interval,
			.weight = estimate_row(1, bytes, interval, INUSE_SPACE).value};
	return known->weight;
}

/* Carries out the pending frees whose time has come. The others move up. */
static void free_pending(struct peak *peak)
{
	size_t kept = 0;

	peak->next_ns = UINT64_MAX;
	for (size_t i = 0; i < peak->pending_count; i++) {
		const struct peak_free pending = peak->pending[i];

		peak->pending[kept] = pending;
		if (pending.time_ns <= peak->now_ns) {
			peak->bytes -= pending.bytes;
			continue;
		}
		kept++;
		if (pending.time_ns < peak->next_ns)
			peak->next_ns = pending.time_ns;
	}
	peak->pending_count = kept;
}

void peak_allocated(struct peak *peak, uint64_t time_ns, double bytes)
{
	if (time_ns > peak->now_ns)
		peak->now_ns = time_ns;
	peak->bytes += bytes;
	peak->allocated += bytes;
	if (peak->bytes <= peak->most)
		return;
	/* Only for a new peak does it matter which pending frees are due. */
	if (peak->pending_count && peak->next_ns <= peak->now_ns)
		free_pending(peak);
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
	if (peak->pending_count == PEAK_PENDING) {
		peak_freed(peak, bytes);
		return;
	}
	if (!peak->pending_count || freed_ns < peak->next_ns)
		peak->next_ns = freed_ns;
	peak->pending[peak->pending_count++] = (struct peak_free){freed_ns, bytes};
}

void peak_settle(struct peak *peak)
{
	for (size_t i = 0; i < peak->pending_count; i++)
		peak->bytes -= peak->pending[i].bytes;
	peak->pending_count = 0;
}
