/* SPDX-License-Identifier: MIT */
/*
 * trial.h - one trial: the events of a list made again with one allocator, in a process of its own
 * with an environment that has nothing else in it. A library that is not there is seen by who has
 * malloc in that process, as only its dynamic linker knows where it looks.
 */
#ifndef HI_TRIAL_RUN_H
#define HI_TRIAL_RUN_H

#include "trial_allocators.h"
#include "trial_list.h"

enum trial_outcome {
	TRIAL_DONE,
	TRIAL_NOT_INSTALLED,
	TRIAL_TOO_LARGE,
	TRIAL_TOO_LONG,
	TRIAL_FAILED /* why: in words */
};

struct trial {
	enum trial_outcome outcome;
	struct hi_trial_report report; /* of DONE */
	char why[HI_TRIAL_TEXT_MAX];   /* of FAILED */
};

struct trial_limits {
	uint64_t memory_bytes; /* that the process may have resident */
	uint64_t time_ns;
};

/* Bytes of memory that the machine, or the cgroup, can still give: nine tenths of what is left. */
uint64_t trial_available(void);
void trial_run(const struct trial_list *list, const struct allocator *allocator,
	       const struct trial_limits *limits, struct trial_progress *progress,
	       struct trial *out_trial);

#endif
