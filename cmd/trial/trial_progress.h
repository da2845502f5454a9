/* SPDX-License-Identifier: MIT */
/*
 * trial_progress.h - a line on standard error that says how far it is, if it takes more than a
 * second, and only on a terminal. It is taken away at the end.
 */
#ifndef HI_TRIAL_PROGRESS_H
#define HI_TRIAL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct trial_progress {
	bool is_quiet, is_shown;
	uint64_t begun_ns, shown_ns;
};

void trial_progress_open(struct trial_progress *progress, bool is_quiet);
/* `done` of `total`; total 0: it is not known. */
void trial_progress_show(struct trial_progress *progress, const char *what, uint64_t done,
			 uint64_t total);
void trial_progress_close(struct trial_progress *progress);

#endif
