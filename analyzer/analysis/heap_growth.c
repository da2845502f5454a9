/* SPDX-License-Identifier: MIT */
/* heap_growth.c - see heap_growth.h. */
#include "heap_growth.h"

#include <math.h>
#include <string.h>

#include "hi_slope.h"
#include "hooked_lines.h"

#define NS_PER_S 1e9
#define GROWN_MIN (1u << 20)
#define GROWN_SHARE 0.02 /* of the anonymous memory */
#define RETAINED_KEPT 0.5
#define RETAINED_USED 0.25
#define MUCH_MIN (8u << 20)
#define MUCH_SHARE 0.25
#define TRIM_SHARE 0.5
/*
 * Samples see no more than is in use. If they see so much more, the look has missed an allocator.
 */
#define SEEN_TIMES 2
#define SEEN_MORE (8u << 20)
/* The same where the look decides what is said of samples. */
#define COUNTED_TIMES 1.25
#define COUNTED_MORE (1u << 20)
#define FIRST 0.1 /* of the window: as in process_growth.c */

double heap_growth_kept(const struct heap_moment *moment)
{
	return (double)moment->free + (double)moment->cached;
}

bool heap_growth_keeps_much(const struct heap_moment *moment)
{
	const double kept = heap_growth_kept(moment);

	return kept >= MUCH_MIN && kept >= MUCH_SHARE * (double)moment->anonymous;
}

bool heap_growth_is_fragmented(const struct heap_moment *moment)
{
	return (double)moment->trimmable < TRIM_SHARE * heap_growth_kept(moment);
}

/* What was seen in use at about that time, by the samples. */
static double seen_at(const struct profile_meta *meta, uint64_t time_ns)
{
	double seen = 0;

	for (uint32_t i = 0; i < meta->moment_count && meta->moment[i].time_ns <= time_ns; i++)
		seen = (double)meta->moment[i].seen;
	return seen;
}

static bool may_be_stated(const struct profile_meta *meta, const struct heap_moment *moment)
{
	return heap_moment_is_sure(moment) &&
	       seen_at(meta, moment->time_ns) <=
		       SEEN_TIMES * (double)moment->used_bytes + SEEN_MORE;
}

void heap_growth_of(const struct profile_meta *meta, struct heap_growth *out_growth)
{
	const struct heap_history *heap = &meta->heap;
	const struct heap_moment *first = heap->moment,
				 *last = heap->count ? &heap->moment[heap->count - 1] : NULL;

	*out_growth = (struct heap_growth){0};
	if (!last || heap_history_is_refused(heap) || meta->files > 1 || !may_be_stated(meta, last))
		return;
	const double grown = (double)last->anonymous - (double)first->anonymous,
		     used = (double)last->used - (double)first->used,
		     kept = heap_growth_kept(last) - heap_growth_kept(first);
	const bool has_grown = last > first && may_be_stated(meta, first) && grown >= GROWN_MIN &&
			       grown >= GROWN_SHARE * (double)last->anonymous;

	*out_growth = (struct heap_growth){
		.now = last,
		.has_grown = has_grown,
		.seconds = (double)(last->time_ns - first->time_ns) / NS_PER_S,
		.anonymous = grown,
		.used = used,
		.kept = kept,
		.own = (double)last->own - (double)first->own,
		.is_retained =
			has_grown && kept >= RETAINED_KEPT * grown && used <= RETAINED_USED * grown,
	};
}

static size_t count_hooked(const struct profile_meta *meta)
{
	const char *cursor = meta->hooked;
	size_t count = 0, size;

	while (hooked_lines_next(&cursor, &size))
		count++;
	return count;
}

/* "glibc 2.36 and jemalloc 5.3" */
static size_t count_names(const char *names)
{
	const char separator[] = " and ";
	size_t count = names ? 1 : 0;

	while (names && (names = strstr(names, separator))) {
		names += sizeof(separator) - 1;
		count++;
	}
	return count;
}

/*
 * Whether the looks have counted all that was hooked. A look knows no allocator that the user has
 * named (--prefix). What the samples see in use must be part of its count.
 */
static bool counts_all(const struct profile_meta *meta)
{
	const struct heap_history *heap = &meta->heap;
	const struct heap_moment *last = heap->count ? &heap->moment[heap->count - 1] : NULL;

	return last && !heap_history_is_refused(heap) && meta->files <= 1 &&
	       count_hooked(meta) <= count_names(heap->name) &&
	       seen_at(meta, last->time_ns) <=
		       COUNTED_TIMES * (double)last->used_bytes + COUNTED_MORE;
}

int heap_use_of(const struct profile_meta *meta, struct heap_use *out_use)
{
	const struct heap_history *heap = &meta->heap;
	double time[HEAP_MOMENTS_MAX], value[HEAP_MOMENTS_MAX];
	struct slope slope;
	size_t used = 0;

	*out_use = (struct heap_use){0};
	for (uint32_t i = 0; i < heap->count; i++) {
		const struct heap_moment *moment = &heap->moment[i];

		if (!heap_moment_is_sure(moment) ||
		    (double)moment->time_ns < FIRST * (double)meta->duration_ns)
			continue;
		time[used] = (double)moment->time_ns / NS_PER_S;
		value[used++] = (double)moment->used_bytes;
	}
	if (used < SLOPE_POINTS_MIN || !counts_all(meta))
		return 0;
	const int err = slope_of(time, value, used, &slope);
	if (!err && isfinite(slope.low) && isfinite(slope.high))
		*out_use = (struct heap_use){.is_known = true,
					     .slope = slope.value,
					     .low = slope.low,
					     .high = slope.high,
					     .bytes = value[used - 1] - value[0]};
	return err;
}
