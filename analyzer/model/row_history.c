/* SPDX-License-Identifier: MIT */
/* row_history.c - see row_history.h. */
#include "row_history.h"

/* The clock of a free may be behind that of the allocation. */
static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Makes the history of a row's only sample. */
static void history_of_one(const struct profile_row *row, struct history *out_history)
{
	const uint64_t lived_ns = row->freed_count && row->freed_ns > 0 && row->freed_ns < 0x1p62
					  ? (uint64_t)row->freed_ns
					  : 0;

	history_open(out_history);
	if (!row->inuse_count) /* first, as it may make the slices wider */
		history_add_gone(out_history, later(row->first_ns, row->first_ns + lived_ns));
	history_add_alloc(out_history, row->first_ns);
	if (row->inuse_count)
		history_add_live(out_history, row->first_ns);
}

void row_history_allocated(struct profile *profile, struct profile_row *row, uint64_t time_ns)
{
	struct history *history;

	if (row->alloc_count == 1 && !row->history) {
		struct history first;

		history_of_one(row, &first);
		row->history = histories_new(&profile->histories);
		history = histories_get(&profile->histories, row->history);
		if (history)
			*history = first;
	}
	history = histories_get(&profile->histories, row->history);
	if (history)
		history_add_alloc(history, time_ns);
}

void row_history_lives(struct profile *profile, const struct profile_row *row, uint64_t born_ns)
{
	struct history *history = histories_get(&profile->histories, row->history);

	if (history)
		history_add_live(history, born_ns);
}

void row_history_passed(struct profile *profile, const struct profile_row *row, uint64_t born_ns,
			uint64_t time_ns)
{
	struct history *history = histories_get(&profile->histories, row->history);

	if (history)
		history_add_gone(history, later(born_ns, time_ns));
}

void row_history_died(struct profile *profile, const struct profile_row *row, uint64_t born_ns,
		      uint64_t time_ns)
{
	struct history *history = histories_get(&profile->histories, row->history);

	if (!history)
		return;
	history_add_gone(history, later(born_ns, time_ns));
	history_take_live(history, born_ns);
}

void row_history_came_back(struct profile *profile, const struct profile_row *row, uint64_t born_ns,
			   uint64_t time_ns)
{
	struct history *history = histories_get(&profile->histories, row->history);

	if (history)
		history_take_gone(history, later(born_ns, time_ns));
}

static bool is_true_of(const struct history *history, const struct profile_row *row)
{
	uint64_t alloc = 0, live = 0, gone = 0;

	for (size_t i = 0; i < HISTORY_SLICES; i++) {
		alloc += history->alloc[i];
		live += history->live[i];
		gone += history->gone[i];
	}
	return alloc == row->alloc_count && live == row->inuse_count && alloc == live + gone;
}

bool row_history_get(const struct profile *profile, const struct profile_row *row,
		     struct history *out_history)
{
	const struct history *history = histories_get(&profile->histories, row->history);
	struct history whole;

	if (history)
		whole = *history;
	else if (row->alloc_count == 1 && row->first_ns)
		history_of_one(row, &whole);
	else
		return false;
	history_settle(&whole);
	if (history && !is_true_of(&whole, row))
		return false;
	*out_history = whole;
	return true;
}

/*
 * The middle of the slice in which the one sample was allocated; 0 if there are several, or none.
 */
static uint64_t time_of_one(const struct history *history)
{
	uint64_t count = 0, time_ns = 0;

	for (size_t i = 0; i < HISTORY_SLICES; i++) {
		count += history->alloc[i];
		if (history->alloc[i])
			time_ns = ((uint64_t)i << history->shift) + (1ull << (history->shift - 1));
	}
	return count == 1 ? time_ns : 0;
}

void row_history_add(struct profile *into, struct profile_row *row, const struct history *added)
{
	struct history before, *history = histories_get(&into->histories, row->history);

	if (!history && !row->alloc_count && time_of_one(added)) {
		row->first_ns = time_of_one(added);
		return;
	}
	if (!history) {
		history_open(&before);
		if (row->alloc_count && !row_history_get(into, row, &before))
			return;
		row->history = histories_new(&into->histories);
		history = histories_get(&into->histories, row->history);
		if (!history)
			return;
		*history = before;
	}
	history_add(history, added);
}
