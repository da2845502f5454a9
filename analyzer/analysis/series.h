/* SPDX-License-Identifier: MIT */
/*
 * series.h - the values of each stack in several snapshots.
 *
 * Only these values of a snapshot are kept, so a hundred snapshots take little more memory than
 * one. Stacks that read the same count as one (stack_text.h), so one series can hold files of
 * different runs. After SERIES_STACKS_MAX stacks all new stacks count as one, "other stacks".
 * Variances take half as much memory again, and are kept only if the caller sets keeps_variance. A
 * zero-initialized series is empty.
 */
#ifndef HI_SERIES_H
#define HI_SERIES_H

#include "estimate.h"
#include "table.h"

#define SERIES_STACKS_MAX (1u << 18)

struct series_snapshot {
	uint32_t pid;
	uint64_t start_unix_ns, duration_ns;
	struct estimate total; /* of the sample type that series_add() was given */
	double in_use;         /* bytes */
};
struct series_stack {
	uint64_t hash;
	/* for the user: `line` is the stack on one line, `all` has one line per call */
	char *line, *all;
	/*
	 * By snapshot, from `first` on; snapshots beyond `count` have 0. Double, since many small
	 * values may be added to a large one.
	 */
	double *value;
	float *variance; /* by snapshot, as value[]; NULL = not kept */
	float unit;      /* the largest estimate.unit */
	uint32_t first, count, capacity;
};
struct series {
	struct series_snapshot *snapshot;
	size_t snapshot_count, snapshot_capacity;
	struct series_stack *stack;
	size_t stack_count, stack_capacity;
	struct table index;
	bool has_others;     /* the last stack is "other stacks" */
	bool keeps_variance; /* the caller sets it before the first series_add() */
	uint32_t caveats;    /* the caveats of all snapshots together (caveats.h) */
	/* the precision of at least one snapshot is unknown (profile_meta) */
	bool is_scaled;
	char *comm, *cmdline, *host;  /* of the first snapshot; NULL = unknown */
	uint64_t peak_bytes, peak_ns; /* of the last snapshot, as in profile_meta */
};

/* Adds one snapshot, which must be later than those before. Returns 0 or -ENOMEM. */
int series_add(struct series *series, const struct profile *profile, enum sample_type type);
double series_value(const struct series_stack *stack, size_t snapshot);
/* 0 if no variance is kept. */
double series_variance(const struct series_stack *stack, size_t snapshot);
/*
 * Fills time[] with the time of each snapshot, in seconds since the first one. False: not all times
 * are known, or they are not in order; then time[] is 0, 1, 2, ...
 */
bool series_times(const struct series *series, double *time);
/* True if all snapshots are from one session, so that peak_bytes is the peak of all of them. */
bool series_is_one_session(const struct series *series);
void series_close(struct series *series);

#endif
