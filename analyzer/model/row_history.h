/* SPDX-License-Identifier: MIT */
/*
 * row_history.h - the history of a row. Most rows of a large profile have one sample, and need no
 * memory for a history: it follows from the row's other fields.
 */
#ifndef HI_ROW_HISTORY_H
#define HI_ROW_HISTORY_H

#include "profile.h"

/*
 * A sample was allocated. Call this before the sample is counted in the row. If there is no room,
 * the row has no history from then on.
 */
void row_history_allocated(struct profile *profile, struct profile_row *row, uint64_t time_ns);
/* The sample is live. */
void row_history_lives(struct profile *profile, const struct profile_row *row, uint64_t born_ns);
/* A live sample was freed at time_ns. */
void row_history_died(struct profile *profile, const struct profile_row *row, uint64_t born_ns,
		      uint64_t time_ns);
/* A sample was already freed when its allocation was counted. */
void row_history_passed(struct profile *profile, const struct profile_row *row, uint64_t born_ns,
			uint64_t time_ns);
/* The free at time_ns did not happen after all. row_history_lives() follows. */
void row_history_came_back(struct profile *profile, const struct profile_row *row, uint64_t born_ns,
			   uint64_t time_ns);
/* False: the history is unknown, or does not agree with the row's counts. */
bool row_history_get(const struct profile *profile, const struct profile_row *row,
		     struct history *out_history);
/* Adds the history of samples. Call this before they are added to the row's counts. */
void row_history_add(struct profile *into, struct profile_row *row, const struct history *history);

#endif
