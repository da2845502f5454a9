/* SPDX-License-Identifier: MIT */
/* trial_print.h - what the trials of a recording have come to, as text and as JSON. */
#ifndef HI_TRIAL_PRINT_H
#define HI_TRIAL_PRINT_H

#include <stdio.h>

#include "trial.h"

struct trial_results {
	const struct hi_trial_head *head;
	const struct allocators *allocators;
	const struct trial *trial; /* one for each allocator */
	struct trial_limits limits;
};

void trial_print(const struct trial_results *results, FILE *out);
void trial_print_json(const struct trial_results *results, FILE *out);

#endif
