/* SPDX-License-Identifier: MIT */
/*
 * peak.h - the most that was in use at once while a stream is replayed, in bytes, and when.
 *
 * Each sampled block counts, from its allocation to its free, with what it stands for (estimate.h). A free that is told together with its allocation counts
 * when its time has come: PEAK_PENDING of them are kept in mind. Beyond that, which no stream of ours needs, a block counts at the moment of its
 * allocation only. Zero-initialized = nothing is in use.
 */
#ifndef HI_PEAK_H
#define HI_PEAK_H

#include <stddef.h>
#include <stdint.h>

#define PEAK_PENDING 1024u /* events that an EVENTS record of ours has room for */
#define PEAK_WEIGHTS 256u  /* a power of two */

struct peak_free {
	uint64_t time_ns;
	double bytes;
};
struct peak_weight {
	uint64_t bytes, interval;
	double weight;
};
struct peak {
	double bytes; /* in use now, and pending frees whose time has come */
	uint64_t now_ns;
	double most; /* and at its peak */
	uint64_t most_ns;
	size_t pending_count;
	uint64_t next_ns; /* the earliest of pending, where there are any */
	struct peak_free pending[PEAK_PENDING];
	struct peak_weight known[PEAK_WEIGHTS];
};

/* What a block of that size stands for that was sampled with that interval. Those that were asked for last are remembered. */
double peak_weight(struct peak *peak, uint64_t bytes, uint64_t interval);
/* Times that lie before those that were told already count as the last one of these. */
void peak_allocated(struct peak *peak, uint64_t time_ns, double bytes);
void peak_freed(struct peak *peak, double bytes);
void peak_passed(struct peak *peak, uint64_t born_ns, uint64_t freed_ns, double bytes);
/* All that was told is over: what was to be freed has been. */
void peak_settle(struct peak *peak);

#endif
