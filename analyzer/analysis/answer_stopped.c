/* SPDX-License-Identifier: MIT */
/*
 * answer_stopped.c - what has grown for a part of the window, and was not freed: nothing grows any
 * more at the end, but a leak that works only under load looks like that, as does a program that
 * has warmed up. See answer.h. Start at answer_add_stopped().
 */
#include <math.h>

#include "answer_groups.h"

#define NS_PER_S 1e9
/* a rise that is worth a word: in bytes, and of all that is in use */
#define RISEN_MIN (1u << 20)
#define RISEN_SHARE 0.02
/* of the rise: what falls by so much at any time comes and goes */
#define FALLEN_SHARE 0.5
/* of the rise: blocks that came before the last quarter and are still there hold so much of it */
#define STAYS_SHARE 0.5
#define LAST_QUARTER 0.75 /* of the window */
/* of what a group holds: when so much had come, it has come */
#define CAME_SHARE 0.9

/* A level over time, from its first value to its last. */
struct level {
	double first, most, last;
	double fallen; /* at most, from any value to a later one */
	double least;  /* in the last quarter */
};

static void add_value(struct level *level, double value, bool is_late)
{
	if (!level->last)
		level->first = value;
	level->most = fmax(level->most, value);
	level->fallen = fmax(level->fallen, level->most - value);
	if (is_late)
		level->least = level->least ? fmin(level->least, value) : value;
	level->last = value;
}

/* What is in use by the allocators' own count; where that is not known, the anonymous memory. */
static struct level find_level(const struct finder *finder)
{
	const struct profile_meta *meta = &finder->profile->meta;
	const double late_ns = LAST_QUARTER * finder->answer->window_ns;
	struct level level = {0};

	if (finder->answer->use.is_known) {
		for (uint32_t i = 0; i < meta->heap.count; i++)
			if (heap_moment_is_sure(&meta->heap.moment[i]))
				add_value(&level, (double)meta->heap.moment[i].used_bytes,
					  (double)meta->heap.moment[i].time_ns >= late_ns);
		return level;
	}
	for (uint32_t i = 0; i < meta->moment_count; i++)
		if (meta->moment[i].anonymous)
			add_value(&level, (double)meta->moment[i].anonymous,
				  (double)meta->moment[i].time_ns >= late_ns);
	return level;
}

/* By how much the level rose for good; 0 = it did not, by as much as matters. */
static double risen(const struct level *level)
{
	const double rise = level->least ? level->least - level->first : 0;

	return rise > RISEN_MIN && rise > RISEN_SHARE * level->last &&
			       level->fallen < FALLEN_SHARE * rise
		       ? rise
		       : 0;
}

/* What is in use of a group and came before that time. */
static double came_before(const struct group *group, double time_ns)
{
	const struct trend_slices *slices = &group->sum.slices;
	double bytes = 0;

	for (size_t i = 0; i < HISTORY_SLICES; i++)
		bytes += slices->live[i] * trend_part_before(slices, i, time_ns);
	return bytes;
}

/* When most of what the group has in use had come. */
static double came_ns(const struct group *group)
{
	const struct trend_slices *slices = &group->sum.slices;
	const double most = CAME_SHARE * came_before(group, slices->window_ns);
	size_t i = 1;

	while (i < HISTORY_SLICES && came_before(group, (double)i * slices->width_ns) < most)
		i++;
	return fmin(slices->window_ns, (double)i * slices->width_ns);
}

void answer_add_stopped(struct finder *finder)
{
	struct answer *answer = finder->answer;
	const struct level level = find_level(finder);
	const double rise = risen(&level), late_ns = LAST_QUARTER * answer->window_ns;
	struct group *most = NULL;
	double all = 0, most_bytes = 0;

	if (answer->row_count || !rise)
		return;
	for (size_t i = 0; i < finder->group_count; i++) {
		const double bytes = came_before(&finder->group[i], late_ns);

		all += bytes;
		if (bytes <= most_bytes)
			continue;
		most = &finder->group[i];
		most_bytes = bytes;
	}
	if (!most || all < STAYS_SHARE * rise || most->trend.verdict == TREND_SHRINKS)
		return;
	answer->risen = rise;
	most->trend.verdict = TREND_TOO_FEW;
	most->trend.more_ns = 0;
	most->came_ns = came_ns(most);
	answer_add_group(finder, most, NO_GROUP);
}
