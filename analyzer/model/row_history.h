/* SPDX-License-Identifier: MIT */
/*
 * row_history.h - the history of a row. Most rows of a large profile are of one sample, and need no memory for it: what there is to know follows from the
 * row's other fields.
 */
#ifndef HI_ROW_HISTORY_H
#define HI_ROW_HISTORY_H

#include "profile.h"

/* A sample was allocated, and is about to be counted in the row. Where there is no room, the row has no history from then on. */
void row_history_allocated(struct profile *profile, struct profile_row *row, uint64_t time_ns);
/* It lives. */
void row_history_lives(struct profile *profile, const struct profile_row *row, uint64_t born_ns);
/* One that lived is gone. */
void row_history_died(struct profile *profile, const struct profile_row *row, uint64_t born_ns, uint64_t time_ns);
/* It was gone from the start. */
void row_history_passed(struct profile *profile, const struct profile_row *row, uint64_t born_ns, uint64_t time_ns);
/* One that was gone then is not: row_history_lives() follows. */
void row_history_came_back(struct profile *profile, const struct profile_row *row, uint64_t born_ns, uint64_t time_ns);
/* False: not known, or not true of the row's counts. */
bool row_history_get(const struct profile *profile, const struct profile_row *row, struct history *out_history);
/* Of samples that are about to be added to the row's counts. */
void row_history_add(struct profile *into, struct profile_row *row, const struct history *history);

#endif
