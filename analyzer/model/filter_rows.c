/* SPDX-License-Identifier: MIT */
/*
 * filter_rows.c - see filter_rows.h. First sum_parts() adds up what passes of each row, then the
 * rows are copied, then the threads and their parts. Start at filter_rows().
 */
#include "filter_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool passes_tags(struct filter_rows *rows, const struct profile_row *row,
			const struct part_thread *thread)
{
	const struct label_set *labels = labels_get(&rows->from->labels, row->key.labels);
	const bool is_focused =
		!rows->focus->is_set || filter_tag_matches(rows->focus, row, labels, thread);
	const bool is_ignored =
		rows->ignore->is_set && filter_tag_matches(rows->ignore, row, labels, thread);

	rows->is_focus_matched |= is_focused;
	rows->is_ignore_matched |= is_ignored;
	return is_focused && !is_ignored;
}

static bool passes_part(struct filter_rows *rows, const struct part *part)
{
	const struct profile *from = rows->from;

	return passes_tags(rows, &from->row[part->row],
			   part->thread ? &from->breakdown.thread[part->thread] : NULL);
}

static void add_counts(struct part *to, const struct part *from)
{
	to->alloc_count += from->alloc_count;
	to->alloc_bytes += from->alloc_bytes;
	to->inuse_count += from->inuse_count;
	to->inuse_bytes += from->inuse_bytes;
	to->resident_bytes += from->resident_bytes;
	to->swapped_bytes += from->swapped_bytes;
}

/* Adds up what passes of each row, by the threads that have it. */
static void sum_parts(struct filter_rows *rows, struct part *kept)
{
	const struct profile *from = rows->from;

	for (size_t i = 0; i < from->breakdown.count; i++) {
		const struct part *part = &from->breakdown.part[i];

		if (passes_part(rows, part))
			add_counts(&kept[part->row], part);
	}
	for (size_t i = 0; i < from->row_count && !from->breakdown.count; i++) {
		const struct profile_row *row = &from->row[i];

		if (passes_tags(rows, row, NULL))
			kept[i] = (struct part){.alloc_count = row->alloc_count,
						.alloc_bytes = row->alloc_bytes,
						.inuse_count = row->inuse_count,
						.inuse_bytes = row->inuse_bytes,
						.resident_bytes = row->resident_bytes,
						.swapped_bytes = row->swapped_bytes};
	}
}

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

struct profile_row filter_row_of(const struct profile_row *row, const struct part *kept)
{
	const double of_alloc = share_of(kept->alloc_count, row->alloc_count),
		     of_inuse = share_of(kept->inuse_count, row->inuse_count);
	struct profile_row part = *row;

	if (kept->alloc_count == row->alloc_count && kept->inuse_count == row->inuse_count)
		return part;
	part.alloc_count = kept->alloc_count;
	part.alloc_bytes = kept->alloc_bytes;
	part.inuse_count = kept->inuse_count;
	part.inuse_bytes = kept->inuse_bytes;
	part.resident_bytes = kept->resident_bytes;
	part.swapped_bytes = kept->swapped_bytes;
	part.alloc_slack = (uint64_t)((double)row->alloc_slack * of_alloc);
	part.inuse_slack = (uint64_t)((double)row->inuse_slack * of_inuse);
	part.freed_count = (uint64_t)((double)row->freed_count * of_alloc);
	part.freed_ns = row->freed_ns * of_alloc;
	part.inuse_ns = row->inuse_ns * of_inuse;
	return part;
}

/*
 * Copies the history, and returns its number in `into`. If only a part of the row is left, the
 * history is wrong for it; row_history_get() finds that out.
 */
static uint32_t copy_history(const struct filter_rows *rows, const struct profile_row *row)
{
	const struct history *known = histories_get(&rows->from->histories, row->history);
	const uint32_t number = known ? histories_new(&rows->into->histories) : 0;
	struct history *copy = histories_get(&rows->into->histories, number);

	if (copy)
		*copy = *known;
	return number;
}

/* new_row: by row of `from`, gets the index of the row that is left of it. */
static int copy_rows(const struct filter_rows *rows, const struct part *kept, uint32_t *new_row)
{
	for (size_t i = 0; i < rows->from->row_count; i++) {
		const struct profile_row *row = &rows->from->row[i];
		const uint32_t stack = rows->stack[row->key.stack];

		new_row[i] = FILTER_GONE;
		if (stack == FILTER_GONE || !(kept[i].alloc_count || kept[i].inuse_count))
			continue;
		struct profile_row copy = filter_row_of(row, &kept[i]);
		copy.key.stack = stack;
		copy.history = copy_history(rows, row);
		if (profile_row_append(rows->into, &copy, &new_row[i]))
			return -ENOMEM;
		rows->origin[new_row[i]] = (uint32_t)i;
	}
	return 0;
}

static int copy_threads(const struct filter_rows *rows)
{
	const struct thread_breakdown *from = &rows->from->breakdown;
	struct thread_breakdown *into = &rows->into->breakdown;

	into->thread = calloc(from->thread_count + 1, sizeof(*into->thread));
	if (!into->thread)
		return -ENOMEM;
	into->thread_capacity = from->thread_count + 1;
	for (; into->thread_count < from->thread_count; into->thread_count++) {
		const struct part_thread *thread = &from->thread[into->thread_count];
		struct part_thread *copy = &into->thread[into->thread_count];

		copy->tid = thread->tid;
		if (thread->name && !(copy->name = strdup(thread->name)))
			return -ENOMEM;
	}
	return 0;
}

static int copy_parts(struct filter_rows *rows, const uint32_t *new_row)
{
	const struct thread_breakdown *from = &rows->from->breakdown;
	uint32_t index;

	for (size_t i = 0; i < from->count; i++) {
		const struct part *part = &from->part[i];

		if (new_row[part->row] == FILTER_GONE || !passes_part(rows, part))
			continue;
		if (thread_breakdown_of(&rows->into->breakdown, new_row[part->row], part->thread,
					&index))
			return -ENOMEM;
		add_counts(&rows->into->breakdown.part[index], part);
	}
	return 0;
}

int filter_rows(struct filter_rows *rows)
{
	const size_t room = rows->from->row_count + 1;
	struct part *kept = calloc(room, sizeof(*kept));
	uint32_t *new_row = malloc(room * sizeof(*new_row));
	int err;

	rows->origin = malloc(room * sizeof(*rows->origin));
	err = kept && new_row && rows->origin ? 0 : -ENOMEM;
	if (!err) {
		sum_parts(rows, kept);
		err = copy_rows(rows, kept, new_row);
	}
	if (!err && rows->from->breakdown.count)
		err = copy_threads(rows) || copy_parts(rows, new_row) ? -ENOMEM : 0;
	free(kept);
	free(new_row);
	return err;
}
