/* SPDX-License-Identifier: MIT */
/*
 * leaks.c - see leaks.h.
 *
 * The rows of a group are added up (row_trend.h), and the trend is computed from the sum. The next
 * group reuses the same memory: only one struct leak is kept per group. Start at
 * leaks_open().
 */
#include "leaks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "caveats.h"
#include "row_history.h"

/*
 * What grows by its samples may take the place of older blocks, or that may not be known. The
 * answer knows, of all stacks of a function together.
 */
static void compare(const struct leaks *leaks, struct leak *leak)
{
	const enum trend_verdict verdict =
		(enum trend_verdict)leaks->answer.stack_verdict[leak->stack];

	if (verdict == TREND_REPLACES || verdict == TREND_TOO_FEW)
		leak->trend.verdict = verdict;
}

/* False: the group has nothing in use that is older than the tail. */
static bool find_leak(const struct profile *profile, const struct stack_groups *groups,
		      size_t group, struct leaks *leaks, struct leak *out_leak)
{
	struct row_trend sum = leaks->begin;
	struct leak leak = {.stack = groups->stack[group]};

	for (size_t i = groups->first_row[group]; i < groups->first_row[group + 1]; i++) {
		row_trend_add(profile, &profile->row[groups->row[i]], &sum);
	}
	leak.bytes = sum.bytes;
	leak.objects = sum.objects;
	if (leak.bytes.value <= 0)
		return false;
	leak.trend = leaks->is_unsure ? (struct trend){.verdict = TREND_UNSURE}
				      : trend_of(&sum.slices, TREND_LEVEL);
	if (trend_is_growth(leak.trend.verdict))
		compare(leaks, &leak);
	leak.age_ns = leak.bytes.live > 0 ? leak.bytes.age_ns / leak.bytes.live : 0;
	row_trend_bars(&sum.slices, ANSWER_BARS, leak.bar);
	*out_leak = leak;
	return true;
}

static int compare_leaks(const void *left, const void *right)
{
	const struct leak *a = left, *b = right;
	const bool grows_a = a->trend.verdict == TREND_GROWS,
		   grows_b = b->trend.verdict == TREND_GROWS;

	if (grows_a != grows_b)
		return grows_a ? -1 : 1;
	if (a->trend.slope != b->trend.slope)
		return a->trend.slope > b->trend.slope ? -1 : 1;
	if (a->bytes.value != b->bytes.value)
		return a->bytes.value > b->bytes.value ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static void find_all(const struct profile *profile, const struct stack_groups *groups,
		     struct leaks *leaks)
{
	for (size_t group = 0; group < groups->count; group++) {
		struct leak *leak = &leaks->leak[leaks->count];

		if (!find_leak(profile, groups, group, leaks, leak))
			continue;
		leaks->count++;
		estimate_add(&leaks->bytes, &leak->bytes);
		estimate_add(&leaks->objects, &leak->objects);
		if (leak->trend.verdict == TREND_GROWS) {
			leaks->growing_count++;
			estimate_add(&leaks->growing_bytes, &leak->bytes);
			estimate_add(&leaks->growing_objects, &leak->objects);
		} else if (leak->trend.verdict == TREND_TOO_FEW ||
			   leak->trend.verdict == TREND_PROBABLY) {
			leaks->undecided_count++;
			estimate_add(&leaks->undecided_bytes, &leak->bytes);
		}
	}
	qsort(leaks->leak, leaks->count, sizeof(*leaks->leak), compare_leaks);
}

static void count_known(const struct profile *profile, struct leaks *leaks)
{
	struct history history;

	for (size_t i = 0; i < profile->row_count; i++) {
		if (!row_trend_counts(&profile->row[i]) || !profile->row[i].inuse_count)
			continue;
		if (row_history_get(profile, &profile->row[i], &history))
			leaks->known_rows++;
		else
			leaks->unknown_rows++;
	}
}

int leaks_open(const struct stack_text *text, const struct leaks_tail *tail,
	       struct leaks *out_leaks)
{
	const double window_ns = (double)text->profile->meta.duration_ns;
	struct stack_groups groups;
	int err;

	*out_leaks =
		(struct leaks){.window_ns = window_ns,
			       .tail_ns = tail->ns ? (double)tail->ns : window_ns * tail->share};
	out_leaks->is_unsure = caveats_withhold_verdicts(caveats_bits(&text->profile->meta));
	if (out_leaks->tail_ns >= window_ns && window_ns > 0)
		return -ERANGE;
	err = answer_open(text->profile, out_leaks->tail_ns, TREND_LEVEL, &out_leaks->answer);
	if (err)
		return err;
	err = stack_groups_open(text, &groups);
	if (!err) {
		out_leaks->leak = malloc((groups.count + 1) * sizeof(*out_leaks->leak));
		err = out_leaks->leak ? 0 : -ENOMEM;
	}
	if (!err) {
		row_trend_begin(text->profile, out_leaks->tail_ns, &out_leaks->begin);
		count_known(text->profile, out_leaks);
		find_all(text->profile, &groups, out_leaks);
	}
	stack_groups_close(&groups);
	return err;
}

void leaks_close(struct leaks *leaks)
{
	free(leaks->leak);
	answer_close(&leaks->answer);
	*leaks = (struct leaks){0};
}
