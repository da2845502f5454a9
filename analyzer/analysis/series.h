/* SPDX-License-Identifier: MIT */
/*
 * series.h - what each stack held in several snapshots. Of a snapshot only these values are kept, so a hundred of them take little more memory than one.
 *
 * Stacks that read the same count as one (stack_text.h), so files of different runs can be in one series. After SERIES_STACKS_MAX stacks those that are new
 * count as one, "other stacks". How sure each value is takes half as much again, and is kept where it is asked for. Zero-initialized = empty.
 */
#ifndef HI_SERIES_H
#define HI_SERIES_H

#include "estimate.h"
#include "table.h"

#define SERIES_STACKS_MAX (1u << 18)

struct series_snapshot {
	uint32_t pid;
	uint64_t start_unix_ns, duration_ns;
	struct estimate total; /* of the type that is looked at */
	double in_use;         /* bytes */
};
struct series_stack {
	uint64_t hash;
	char *line, *all; /* as one reads it: on one line, and each call on one of its own */
	double *value;    /* of the snapshots from `first` on, as far as it goes; else 0. To the byte: many small ones may be added to a large one */
	float *variance;  /* likewise of these estimates; NULL = not kept */
	float unit;       /* the largest estimate.unit */
	uint32_t first, count, capacity;
};
struct series {
	struct series_snapshot *snapshot;
	size_t snapshot_count, snapshot_capacity;
	struct series_stack *stack;
	size_t stack_count, stack_capacity;
	struct table index;
	bool has_others;              /* the last one is for all other stacks */
	bool keeps_variance;          /* to be set before the first snapshot is added */
	uint32_t caveats;             /* of all snapshots (caveats.h) */
	bool is_scaled;               /* of some snapshot nobody knows how sure it is (profile_meta) */
	char *comm, *cmdline, *host;  /* of the first snapshot; NULL = unknown */
	uint64_t peak_bytes, peak_ns; /* of the last one, as in profile_meta */
};

/* One snapshot more, later than the ones before. 0 or -ENOMEM. */
int series_add(struct series *series, const struct profile *profile, enum sample_type type);
double series_value(const struct series_stack *stack, size_t snapshot);
/* 0 where nothing is kept of it. */
double series_variance(const struct series_stack *stack, size_t snapshot);
/*
 * When each snapshot was taken, in seconds since the first one, into time[]. False: not known of all of them, or not in this order; then they are numbered.
 */
bool series_times(const struct series *series, double *time);
/* All of them are of one session, so that peak_bytes is the peak of all. */
bool series_is_one_session(const struct series *series);
void series_close(struct series *series);

#endif
