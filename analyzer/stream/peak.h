/* SPDX-License-Identifier: MIT */
/*
 * peak.h - the most bytes that were in use at once while a stream is replayed, and when.
 *
 * Each sampled block counts, from its allocation to its free, with the bytes that it stands for
 * (estimate.h). A free that is recorded together with its allocation counts when its time has come:
 * up to PEAK_PENDING such frees are pending. Beyond that, which no stream of heapinject needs, a
 * block counts only at the moment of its allocation. Zero-initialized = nothing is in use.
 */
#ifndef HI_PEAK_H
#define HI_PEAK_H

#include <stddef.h>
#include <stdint.h>

#define PEAK_PENDING 1024u /* events that an EVENTS record of heapinject has room for */
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
	double bytes;     /* in use now, plus pending frees whose time has come */
	double allocated; /* all that were ever counted */
	uint64_t now_ns;
	double most; /* bytes at the peak */
	uint64_t most_ns;
	size_t pending_count;
	uint64_t next_ns; /* the earliest in pending[], if any */
	struct peak_free pending[PEAK_PENDING];
	struct peak_weight known[PEAK_WEIGHTS];
};

/*
 * The bytes that a block of this size stands for if it was sampled with this interval. The last
 * results are cached.
 */
double peak_weight(struct peak *peak, uint64_t bytes, uint64_t interval);
/* A time before the latest one so far counts as that latest one. */
void peak_allocated(struct peak *peak, uint64_t time_ns, double bytes);
void peak_freed(struct peak *peak, double bytes);
void peak_passed(struct peak *peak, uint64_t born_ns, uint64_t freed_ns, double bytes);
/* All events so far are over: carries out all pending frees. */
void peak_settle(struct peak *peak);

#endif
