/* SPDX-License-Identifier: MIT */
/*
 * heap_history.h - what the allocators of the process had, by their own count, over a session: what
 * looks from outside have found (hi_stream_heap).
 */
#ifndef HI_HEAP_HISTORY_H
#define HI_HEAP_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#define HEAP_MOMENTS_MAX 128u

/* In bytes, resident or swapped out, but for used_bytes and trimmable. */
struct heap_moment {
	uint64_t time_ns;
	uint64_t anonymous;              /* of the process */
	uint64_t used_bytes, used_count; /* blocks in use, touched or not */
	uint64_t used;                   /* of these bytes */
	uint64_t free, cached;
	uint64_t trimmable; /* resident: what the allocators would give back */
	uint64_t own;       /* heads of blocks, metadata */
	uint64_t unsure;
};

struct heap_history {
	/* evenly over the session, the latest of each stretch of step_ns */
	struct heap_moment moment[HEAP_MOMENTS_MAX];
	uint32_t count;
	uint64_t step_ns;
	char *name; /* of the allocators; NULL = nobody has looked */
	/* why what they have could not be read, at the last look; NULL = it could */
	char *refusal;
};

void heap_history_close(struct heap_history *history);
/* Of the last look; "": not known, or no refusal. Copies; 0 or -ENOMEM. */
int heap_history_name(struct heap_history *history, const char *name, const char *refusal);
/*
 * Adds a look. If there is no room, every second one is dropped, and the step doubled. One that is
 * not later than the last is ignored.
 */
void heap_history_add(struct heap_history *history, const struct heap_moment *moment);
/* Whether the last look could not read the heap. */
bool heap_history_is_refused(const struct heap_history *history);
/* What of a look belongs to the allocators, used or not. */
double heap_moment_sum(const struct heap_moment *moment);
/* Whether its figures may be stated: little of it is unsure. */
bool heap_moment_is_sure(const struct heap_moment *moment);

#endif
