/* SPDX-License-Identifier: MIT */
/*
 * answer_find.c - groups of stacks, their trends, and the verdict. See answer.h. Start at
 * answer_open().
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "answer_groups.h"
#include "caveats.h"
#include "row_history.h"

#define NS_PER_S 1e9
/* survivors from which on a group can be said to grow, probably: so many groups are tested */
#define TESTED_MIN 8.0
/* survivors that decide most cases (docs/sampling.md) */
#define SURVIVORS_ENOUGH 32.0

/* ---- groups ---------------------------------------------------------------------------------- */

void answer_group_add_row(struct group *group, const struct profile *profile,
			  const struct profile_row *row)
{
	row_trend_add(profile, row, &group->sum);
	answer_add_sizes(profile, row, &group->sizes);
}

void answer_group_add_stack(struct group *group, uint32_t stack, double live)
{
	group->stacks++;
	group->live += live;
	if (group->stack == NO_GROUP || live > group->most) {
		group->stack = stack;
		group->most = live;
	}
}

static void find_calls(struct finder *finder)
{
	const struct profile *profile = finder->profile;
	size_t count;

	for (uint32_t i = 0; i < profile->stack_count; i++) {
		const uint32_t *call = user_frames_unfold(&finder->answer->frames, i, &count);

		finder->call_of[i] = count ? call[0] : NO_CALL;
	}
}

static struct group *group_at(struct finder *finder, uint32_t function)
{
	uint32_t *group = &finder->group_of[function];

	if (*group == NO_GROUP) {
		*group = (uint32_t)finder->group_count++;
		finder->group[*group] = (struct group){.sum = finder->begin, .stack = NO_GROUP};
	}
	return &finder->group[*group];
}

/* The part of what a row has in use that came after the first quarter of the window. */
static double late_part(const struct profile *profile, const struct profile_row *row)
{
	const double quarter_ns = (double)profile->meta.duration_ns / 4;
	struct history history;
	double late = 0, all = 0;

	if (!row_history_get(profile, row, &history))
		return 1;
	for (size_t i = 0; i < HISTORY_SLICES; i++) {
		all += history.live[i];
		if (((double)i + 0.5) * (double)(1ull << history.shift) >= quarter_ns)
			late += history.live[i];
	}
	return all > 0 ? late / all : 0;
}

static void add_groups(struct finder *finder)
{
	const struct profile *profile = finder->profile;

	for (size_t i = 0; i < profile->row_count; i++) {
		const struct profile_row *row = &profile->row[i];

		if (!row_trend_counts(row))
			continue;
		struct group *group = group_at(finder, answer_function_of(finder, row->key.stack));

		answer_group_add_row(group, profile, row);
		answer_add_sizes(profile, row, &finder->sizes);
		const struct estimate in_use = estimate_of(profile, row, INUSE_SPACE);
		const double live = in_use.value;

		finder->stack_live[row->key.stack] += live;
		finder->answer->held += live + in_use.slack;
		finder->stack_allocated[row->key.stack] +=
			estimate_of(profile, row, ALLOC_SPACE).value;
		finder->stack_late[row->key.stack] += live * late_part(profile, row);
	}
	for (uint32_t i = 0; i < profile->stack_count; i++) {
		const uint32_t group = finder->group_of[answer_function_of(finder, i)];

		if (group != NO_GROUP)
			answer_group_add_stack(&finder->group[group], i, finder->stack_live[i]);
	}
}

/* All groups share one probability of a false alarm, those that cannot grow left out. */
static void find_trends(struct finder *finder)
{
	for (size_t i = 0; i < finder->group_count; i++) {
		finder->group[i].trend = trend_of(&finder->group[i].sum.slices, finder->level);
		finder->tested += finder->group[i].trend.samples >= TESTED_MIN;
	}
	for (size_t i = 0; i < finder->group_count && finder->tested > 1; i++)
		finder->group[i].trend = trend_of(&finder->group[i].sum.slices,
						  finder->level / (double)finder->tested);
}

/* ---- the answer ------------------------------------------------------------------------------ */

/*
 * Where the process grows, and no group does: what holds most may be it, if all of them together
 * hold enough.
 */
static void add_holder(struct finder *finder)
{
	struct answer *answer = finder->answer;
	const struct process_growth *process = &answer->process;
	struct group *most = NULL;

	if (answer->row_count || !process->is_known || process->low <= answer->detectable ||
	    answer->held < ANSWER_HELD_SHARE * process->bytes)
		return;
	for (size_t i = 0; i < finder->group_count; i++)
		if (!most || finder->group[i].live > most->live)
			most = &finder->group[i];
	if (!most || most->live <= 0)
		return;
	most->trend = (struct trend){
		.verdict = TREND_TOO_FEW,
		.slope = process->slope,
		.slope_low = process->low,
		.slope_high = process->high,
		.samples = fmax(1, most->trend.samples),
		.more_ns = fmax(answer->window_ns, most->trend.more_ns),
	};
	most->is_holder = true;
	answer_add_group(finder, most, NO_GROUP);
}

static void set_stack_verdicts(const struct finder *finder)
{
	for (uint32_t i = 0; i < finder->profile->stack_count; i++) {
		const uint32_t group = finder->group_of[answer_function_of(finder, i)];

		if (group != NO_GROUP)
			finder->answer->stack_verdict[i] =
				(uint8_t)finder->group[group].trend.verdict;
	}
}

/* What leaks faster would have left SURVIVORS_ENOUGH samples, at the interval of most of the time.
 */
static double detectable_rate(const struct profile *profile, double window_ns)
{
	const struct profile_meta *meta = &profile->meta;
	const uint64_t changes =
		meta->change_count < PROFILE_CHANGES_MAX ? meta->change_count : PROFILE_CHANGES_MAX;
	uint64_t interval = changes ? meta->change[changes - 1].interval : meta->interval;

	for (uint64_t i = 0; i < changes; i++)
		if ((double)meta->change[i].time_ns > window_ns / 4 &&
		    meta->change[i].interval > interval)
			interval = meta->change[i].interval;
	return SURVIVORS_ENOUGH * (double)interval / (window_ns / NS_PER_S);
}

/* The same where samples were thinned most. */
static double detectable_rate_anywhere(const struct profile *profile, double window_ns)
{
	uint64_t finest, coarsest;

	profile_intervals(profile, &finest, &coarsest);
	return SURVIVORS_ENOUGH * (double)coarsest / (window_ns / NS_PER_S);
}

static void compare(const struct finder *finder, struct group *group)
{
	group->grows_by_samples = trend_is_growth(group->trend.verdict);
	if (group->grows_by_samples)
		answer_compare(finder, group);
}

static double slope_if_it_grows(const struct group *group)
{
	return trend_is_growth(group->trend.verdict) ? group->trend.slope : 0;
}

/*
 * The rate above which no place can leak unseen: what leaked is held, and the slope has an upper
 * end. Never below what samples can show, what was passed over, and what has risen.
 */
static double claim(const struct finder *finder)
{
	const double seconds = finder->answer->window_ns / NS_PER_S;
	const double passed = (double)finder->profile->meta.passed_bytes;
	double rate =
		fmax(finder->answer->detectable, fmax(passed, finder->answer->risen) / seconds);

	for (size_t i = 0; i < finder->group_count; i++) {
		const struct group *group = &finder->group[i];
		const double held = group->live / seconds, high = group->trend.slope_high;

		rate = fmax(rate, isfinite(high) && high > 0 ? fmin(held, high) : held);
	}
	return rate;
}

static int find_all(struct finder *finder)
{
	struct answer *answer = finder->answer;
	struct group rest;
	uint32_t caller, call;
	int err;

	find_calls(finder);
	add_groups(finder);
	find_trends(finder);
	answer_find_old_freed(finder);
	err = answer_find_rest(finder, &rest, &caller);
	if (err)
		return err;
	const bool rest_grows = trend_is_growth(rest.trend.verdict) && rest.stack != NO_GROUP;

	for (size_t i = 0; i < finder->group_count; i++)
		compare(finder, &finder->group[i]);
	if (rest_grows)
		compare(finder, &rest);
	answer_compare_all(finder);
	finder->fastest = rest_grows ? slope_if_it_grows(&rest) : 0;
	for (size_t i = 0; i < finder->group_count; i++)
		finder->fastest = fmax(finder->fastest, slope_if_it_grows(&finder->group[i]));
	for (size_t i = 0; i < finder->group_count; i++) {
		struct group *group = &finder->group[i];

		call = NO_GROUP;
		if (group->grows_by_samples)
			err = answer_find_keeper(finder, group, &call);
		else if (rest_grows)
			continue; /* its part of the whole is decided */
		if (err)
			return err;
		answer_add_group(finder, group, call);
	}
	if (rest_grows)
		answer_add_group(finder, &rest, caller);
	answer_add_enlarged(finder);
	set_stack_verdicts(finder);
	add_holder(finder);
	answer_add_stopped(finder);
	answer_set_verdict(answer);
	answer->claimed = claim(finder);
	return 0;
}

static int make_room(struct finder *finder)
{
	const size_t stacks = finder->profile->stack_count,
		     functions = finder->answer->frames.functions.count;

	finder->call_of = calloc(stacks + 1, sizeof(*finder->call_of));
	finder->answer->stack_verdict = calloc(stacks + 1, sizeof(*finder->answer->stack_verdict));
	finder->stack_live = calloc(stacks + 1, sizeof(*finder->stack_live));
	finder->stack_allocated = calloc(stacks + 1, sizeof(*finder->stack_allocated));
	finder->stack_late = calloc(stacks + 1, sizeof(*finder->stack_late));
	finder->group_of = malloc((functions + 1) * sizeof(*finder->group_of));
	finder->group = malloc((functions + 1) * sizeof(*finder->group));
	if (!finder->call_of || !finder->answer->stack_verdict || !finder->stack_live ||
	    !finder->stack_allocated || !finder->stack_late || !finder->group_of || !finder->group)
		return -ENOMEM;
	for (size_t i = 0; i <= functions; i++)
		finder->group_of[i] = NO_GROUP;
	return 0;
}

int answer_open(const struct profile *profile, double tail_ns, double level,
		struct answer *out_answer)
{
	/* one half for all groups, the other for what grows only as a whole */
	struct finder finder = {.profile = profile, .answer = out_answer, .level = level / 2};
	const double window_ns = (double)profile->meta.duration_ns;
	char complaint[PATTERN_COMPLAINT_MAX];
	int err;

	*out_answer = (struct answer){.profile = profile,
				      .verdict = TREND_UNSURE,
				      .explained = -1,
				      .window_ns = window_ns,
				      .tail_ns = tail_ns};
	err = user_frames_open(profile, NULL, &out_answer->frames, complaint);
	if (!err)
		err = process_growth_of(&profile->meta, &out_answer->process);
	if (!err)
		err = mapping_growth_of(profile, &out_answer->frames, &out_answer->mappings);
	if (!err)
		err = heap_use_of(&profile->meta, &out_answer->use);
	heap_growth_of(&profile->meta, &out_answer->heap);
	if (!err && window_ns > 0 && tail_ns < window_ns) {
		out_answer->detectable = detectable_rate(profile, window_ns);
		out_answer->claimed = out_answer->detectable;
		out_answer->detectable_anywhere =
			fmax(out_answer->detectable, detectable_rate_anywhere(profile, window_ns));
		row_trend_begin(profile, tail_ns, &finder.begin);
		err = make_room(&finder);
		if (!err && !caveats_withhold_verdicts(caveats_bits(&profile->meta)))
			err = find_all(&finder);
	}
	free(finder.call_of);
	free(finder.stack_live);
	free(finder.stack_allocated);
	free(finder.stack_late);
	free(finder.group_of);
	free(finder.group);
	return err;
}

void answer_close(struct answer *answer)
{
	free(answer->stack_verdict);
	user_frames_close(&answer->frames);
	*answer = (struct answer){0};
}
