/* SPDX-License-Identifier: MIT */
/* answer.c - see answer.h. */
#include "answer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "caveats.h"
#include "row_history.h"

#define NS_PER_S 1e9
/* survivors from which on a group can be said to grow, probably: so many groups are tested */
#define TESTED_MIN 8.0
/* a function that leads to this share of what grows is where one looks */
#define CALLER_SHARE 0.8
/*
 * What was seen grows this much faster than the process at least, if it replaces older blocks;
 * where the process grows half as fast, it may be either.
 */
#define REPLACES_TIMES 2.0
/* survivors that decide most cases (docs/sampling.md) */
#define SURVIVORS_ENOUGH 32.0

/*
 * Of the bytes that a group holds: so much must have come in addition, if it grows, and not in the
 * place of what was freed.
 */
#define GROWTH_SHARE 0.5
/* of a group's bytes: in classes of which it is known what was freed */
#define KNOWN_SHARE 0.8
/* of the bytes of unsampled blocks that were freed: as many may be of the session */
#define OURS_SHARE 0.5
#define FEW_SEEN 3u
/* growth that the memory of a process shows, whatever its allocator has in reserve */
#define SHOWS_BYTES (256u << 10)

#define NO_GROUP UINT32_MAX

/*
 * What is in use at the end and older than the tail, by classes of usable sizes, in bytes. Of the
 * rows of a group, or of all.
 */
struct sizes {
	double bytes[HI_SIZE_CLASSES];
};

struct group {
	struct row_trend sum;
	struct sizes sizes;
	struct trend trend;
	double live, most; /* bytes in use; of the stack that holds most */
	uint32_t stack;
	size_t stacks;
	bool is_caller, is_scattered; /* as in struct answer_row */
};

struct finder {
	const struct profile *profile;
	struct answer *answer;
	struct row_trend begin;
	uint32_t *call_of;  /* by stack: the call that a person would look at */
	uint32_t *group_of; /* by function: index into group[]; NO_GROUP */
	struct group *group;
	size_t group_count, tested;
	double *stack_live; /* by stack: bytes in use */
	double *stack_late; /* of these, what came after the first quarter, the warm-up */
	struct sizes sizes; /* of all */
	/*
	 * by class: blocks from before the session that were freed meanwhile, in bytes; variance <
	 * 0 = it is not known
	 */
	double old_freed[HI_SIZE_CLASSES], old_variance[HI_SIZE_CLASSES];
	double level;
};

/* ---- groups ---------------------------------------------------------------------------------- */

static void find_calls(struct finder *finder)
{
	const struct profile *profile = finder->profile;
	size_t count;

	for (uint32_t i = 0; i < profile->stack_count; i++) {
		const uint32_t *call = user_frames_unfold(&finder->answer->frames, i, &count);

		finder->call_of[i] = count ? call[0] : 0;
	}
}

static uint32_t function_of(const struct finder *finder, uint32_t stack)
{
	return finder->answer->frames.functions.call[finder->call_of[stack]].function;
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

/* Counts a stack whose rows have been added. */
static void add_stack(struct group *group, uint32_t stack, double live)
{
	group->stacks++;
	group->live += live;
	if (group->stack == NO_GROUP || live > group->most) {
		group->stack = stack;
		group->most = live;
	}
}

/* The class of the usable size of a row's blocks. */
static uint32_t class_of(const struct profile_row *row)
{
	return row->alloc_count
		       ? hi_size_class((row->alloc_bytes + row->alloc_slack) / row->alloc_count)
		       : 0;
}

/* Adds what a row has in use. */
static void add_sizes(const struct profile *profile, const struct profile_row *row,
		      struct sizes *sizes)
{
	sizes->bytes[class_of(row)] += estimate_of(profile, row, INUSE_SPACE).value;
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
		struct group *group = group_at(finder, function_of(finder, row->key.stack));

		row_trend_add(profile, row, &group->sum);
		add_sizes(profile, row, &group->sizes);
		add_sizes(profile, row, &finder->sizes);
		const double live = estimate_of(profile, row, INUSE_SPACE).value;

		finder->stack_live[row->key.stack] += live;
		finder->stack_late[row->key.stack] += live * late_part(profile, row);
	}
	for (uint32_t i = 0; i < profile->stack_count; i++) {
		const uint32_t group = finder->group_of[function_of(finder, i)];

		if (group != NO_GROUP)
			add_stack(&finder->group[group], i, finder->stack_live[i]);
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

/* ---- what was freed of the time before ------------------------------------------------------- */

/*
 * The variance of what was freed in a class, by the number of frees that were seen. If few were,
 * three more may have been missed by chance; where all are seen, none was.
 */
static double variance_of(uint32_t size_class, const struct profile_freed *freed, double share)
{
	const double all = (double)freed->bytes,
		     size = (double)(4ull + (size_class & 3)) * exp2(size_class / 4);
	const double missed = share < 1 ? FEW_SEEN * size / share : 0;

	return (freed->seen ? all * all / (double)freed->seen : 0) +
	       (freed->seen < FEW_SEEN ? missed * missed / 4 : 0);
}

/*
 * What is freed and was no sample is of the time before, but for blocks of the session that no
 * sample was taken of. Of these there are as many as the freed samples stand for, without the
 * samples themselves. Where they are most of what was freed, nothing is known: addresses that come
 * again and again are looked at always or never.
 */
static void find_old_freed(struct finder *finder)
{
	const struct profile *profile = finder->profile;
	const struct profile_meta *meta = &profile->meta;
	double ours[HI_SIZE_CLASSES] = {0};

	for (size_t i = 0; i < profile->row_count; i++) {
		const struct profile_row *row = &profile->row[i];
		const uint64_t count = row->alloc_count - row->inuse_count,
			       bytes = row->alloc_bytes - row->inuse_bytes;

		if (row_trend_counts(row) && row->alloc_count >= row->inuse_count)
			ours[class_of(row)] +=
				estimate_row(count, bytes, row->key.interval, ALLOC_SPACE).value -
				(double)bytes;
	}
	for (uint32_t i = 0; i < HI_SIZE_CLASSES; i++) {
		const struct profile_freed *freed = &meta->unsampled_freed[i];
		const double all = (double)freed->bytes;

		finder->old_freed[i] = fmax(0, all - ours[i]);
		finder->old_variance[i] = meta->frees_share <= 0 || ours[i] > OURS_SHARE * all
						  ? -1
						  : variance_of(i, freed, meta->frees_share);
		if (ours[i] > 0 && !freed->seen)
			finder->old_variance[i] = -1;
	}
}

/*
 * By how much what is in use grew in the classes of a group: what was allocated and stays, without
 * what was freed of the time before. False: it is not known.
 */
static bool find_excess(const struct finder *finder, const struct group *group, double *out_low,
			double *out_high)
{
	double excess = 0, variance = 0, known = 0, all = 0;

	for (uint32_t i = 0; i < HI_SIZE_CLASSES; i++) {
		if (group->sizes.bytes[i] <= 0)
			continue;
		all += group->sizes.bytes[i];
		if (finder->old_variance[i] < 0)
			continue;
		known += group->sizes.bytes[i];
		excess += finder->sizes.bytes[i] - finder->old_freed[i];
		variance += finder->old_variance[i];
	}
	*out_low = excess - 2 * sqrt(variance);
	*out_high = excess + 2 * sqrt(variance);
	return all > 0 && known >= KNOWN_SHARE * all;
}

/*
 * Compares a group that grows by its samples with what else is known. The frees of older blocks
 * decide. Where these are not known, the memory of the process does: it contradicts that something
 * grows which grows faster than it. And what holds so little that the process would not show it may
 * take the place of older blocks, too.
 */
static void compare(const struct finder *finder, struct group *group)
{
	const struct process_growth *process = &finder->answer->process;
	const double window_ns = finder->answer->window_ns,
		     grown = group->trend.slope * window_ns / NS_PER_S;
	double low, high;

	if (find_excess(finder, group, &low, &high)) {
		if (high < GROWTH_SHARE * group->live)
			group->trend.verdict = TREND_REPLACES;
		if (high < GROWTH_SHARE * group->live || low > GROWTH_SHARE * group->live)
			return;
	}
	if (process->is_known && group->trend.slope_low > REPLACES_TIMES * fmax(process->high, 0)) {
		group->trend.verdict = TREND_REPLACES;
	} else if (grown < SHOWS_BYTES) {
		group->trend.verdict = TREND_TOO_FEW;
		group->trend.more_ns = window_ns * (SHOWS_BYTES / grown - 1);
	}
}

/* ---- what grows only as a whole -------------------------------------------------------------- */

static bool is_rest(const struct finder *finder, uint32_t stack)
{
	const uint32_t group = finder->group_of[function_of(finder, stack)];

	return group != NO_GROUP && !trend_is_growth(finder->group[group].trend.verdict);
}

/* Sums up the rest; function NO_GROUP = all of it, else what leads through that function. */
static struct group sum_rest(const struct finder *finder, const bool *leads)
{
	const struct profile *profile = finder->profile;
	struct group rest = {.sum = finder->begin, .stack = NO_GROUP};

	for (size_t i = 0; i < profile->row_count; i++) {
		const struct profile_row *row = &profile->row[i];

		if (row_trend_counts(row) && is_rest(finder, row->key.stack) &&
		    (!leads || leads[row->key.stack])) {
			row_trend_add(profile, row, &rest.sum);
			add_sizes(profile, row, &rest.sizes);
		}
	}
	for (uint32_t i = 0; i < profile->stack_count; i++)
		if (is_rest(finder, i) && (!leads || leads[i]))
			add_stack(&rest, i, finder->stack_live[i]);
	return rest;
}

/*
 * By function: late bytes of the rest's stacks that lead through it. Each counts once a stack.
 * Returns the late bytes of the whole rest.
 */
static double weigh_callers(const struct finder *finder, double *weight, uint32_t *seen_in)
{
	const struct profile *profile = finder->profile;
	const struct functions *functions = &finder->answer->frames.functions;
	double all = 0;
	size_t count;

	for (uint32_t i = 0; i < profile->stack_count; i++) {
		if (!is_rest(finder, i) || finder->stack_late[i] <= 0)
			continue;
		all += finder->stack_late[i];
		const uint32_t *call = user_frames_unfold(&finder->answer->frames, i, &count);
		for (size_t k = 0; k < count; k++) {
			const uint32_t function = functions->call[call[k]].function;

			if (seen_in[function] != i + 1)
				weight[function] += finder->stack_late[i];
			seen_in[function] = i + 1;
		}
	}
	return all;
}

/*
 * Each stack votes, with what came late, for its innermost function that leads to CALLER_SHARE of
 * the rest: a stack that does not grow may hold more than each of those that do. all: of
 * weigh_callers(); votes: by function, zeroed. Returns the call of the function that wins;
 * NO_GROUP: none leads to so much.
 */
static uint32_t find_caller(const struct finder *finder, double all, const double *weight,
			    double *votes)
{
	const struct functions *functions = &finder->answer->frames.functions;
	uint32_t caller = NO_GROUP;
	double most = 0;
	size_t count;

	for (uint32_t i = 0; i < finder->profile->stack_count; i++) {
		if (!is_rest(finder, i) || finder->stack_late[i] <= 0)
			continue;
		const uint32_t *call = user_frames_unfold(&finder->answer->frames, i, &count);
		size_t k = 0;

		while (k < count && weight[functions->call[call[k]].function] < CALLER_SHARE * all)
			k++;
		if (k == count)
			continue;
		double *vote = &votes[functions->call[call[k]].function];

		*vote += finder->stack_late[i];
		caller = *vote > most ? call[k] : caller;
		most = fmax(most, *vote);
	}
	return caller;
}

static void mark_stacks(const struct finder *finder, uint32_t function, bool *leads)
{
	const struct functions *functions = &finder->answer->frames.functions;
	size_t count;

	for (uint32_t i = 0; i < finder->profile->stack_count; i++) {
		const uint32_t *call = user_frames_unfold(&finder->answer->frames, i, &count);

		leads[i] = false;
		for (size_t k = 0; k < count && !leads[i]; k++)
			leads[i] = functions->call[call[k]].function == function;
	}
}

/* Whether other functions than this one allocate on these stacks. */
static bool leads_to_others(const struct finder *finder, uint32_t function, const bool *leads)
{
	for (uint32_t i = 0; i < finder->profile->stack_count; i++)
		if (leads[i] && is_rest(finder, i) && function_of(finder, i) != function)
			return true;
	return false;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void draw_bars(const struct trend_slices *slices, struct answer_row *row)
{
	double in_use = 0, most = 0;
	size_t slice = 0;

	for (size_t bar = 0; bar < ANSWER_BARS; bar++) {
		const double to_ns =
			slices->window_ns * (double)(bar + 1) / ANSWER_BARS + slices->width_ns / 2;

		for (; slice < HISTORY_SLICES && (double)(slice + 1) * slices->width_ns <= to_ns;
		     slice++)
			in_use += slices->change[slice];
		row->bar[bar] = fmax(0, in_use);
		most = fmax(most, row->bar[bar]);
	}
	for (size_t bar = 0; bar < ANSWER_BARS && most > 0; bar++)
		row->bar[bar] /= most;
}

/* The order of rows: what grows, then what replaces older blocks, then what is not decided. */
static int rank(enum trend_verdict verdict)
{
	switch (verdict) {
	case TREND_GROWS:
		return 4;
	case TREND_PROBABLY:
		return 3;
	case TREND_REPLACES:
		return 2;
	case TREND_TOO_FEW:
		return 1;
	default:
		return 0;
	}
}

static bool comes_before(const struct answer_row *a, const struct answer_row *b)
{
	const int left = rank(a->trend.verdict), right = rank(b->trend.verdict);

	return left != right ? left > right : a->trend.slope > b->trend.slope;
}

/* Keeps the ANSWER_ROWS that come first. */
static void add_row(struct answer *answer, const struct answer_row *row)
{
	size_t at = answer->row_count;

	while (at > 0 && comes_before(row, &answer->row[at - 1]))
		at--;
	if (at == ANSWER_ROWS)
		return;
	if (answer->row_count < ANSWER_ROWS)
		answer->row_count++;
	for (size_t i = answer->row_count - 1; i > at; i--)
		answer->row[i] = answer->row[i - 1];
	answer->row[at] = *row;
}

static void add_group(struct finder *finder, const struct group *group, uint32_t call)
{
	struct answer *answer = finder->answer;
	struct answer_row row = {
		.trend = group->trend,
		.live = group->live,
		.stack = group->stack,
		.call = call == NO_GROUP ? finder->call_of[group->stack] : call,
		.stacks = group->stacks,
		.is_caller = group->is_caller,
		.is_scattered = group->is_scattered,
	};

	/* of what is not decided, only what may grow is of interest */
	if (!rank(row.trend.verdict) || (row.trend.verdict == TREND_TOO_FEW &&
					 (row.trend.slope_low <= 0 || row.trend.samples < 1)))
		return;
	draw_bars(&group->sum.slices, &row);
	add_row(answer, &row);
	if (!trend_is_growth(row.trend.verdict))
		return;
	answer->growing++;
	answer->slope += row.trend.slope;
	answer->slope_low += row.trend.slope_low;
	answer->slope_high += row.trend.slope_high;
}

static int find_rest(struct finder *finder, struct group *out_rest, uint32_t *out_call)
{
	const size_t stacks = finder->profile->stack_count,
		     functions = finder->answer->frames.functions.count;
	double *weight = calloc(functions + 1, sizeof(*weight));
	uint32_t *seen_in = calloc(functions + 1, sizeof(*seen_in));
	double *votes = calloc(functions + 1, sizeof(*votes));
	bool *leads = calloc(stacks + 1, sizeof(*leads));
	int err = weight && seen_in && votes && leads ? 0 : -ENOMEM;

	*out_call = NO_GROUP;
	if (!err) {
		*out_rest = sum_rest(finder, NULL);
		out_rest->trend = trend_of(&out_rest->sum.slices, finder->level);
	}
	if (!err && trend_is_growth(out_rest->trend.verdict)) {
		const double all = weigh_callers(finder, weight, seen_in);

		*out_call = find_caller(finder, all, weight, votes);
		out_rest->is_scattered = *out_call == NO_GROUP;
	}
	if (*out_call != NO_GROUP) {
		const uint32_t function = finder->answer->frames.functions.call[*out_call].function;

		mark_stacks(finder, function, leads);
		*out_rest = sum_rest(finder, leads);
		out_rest->trend = trend_of(&out_rest->sum.slices, finder->level);
		out_rest->is_caller = leads_to_others(finder, function, leads);
	}
	free(weight);
	free(seen_in);
	free(votes);
	free(leads);
	return err;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void set_verdict(struct answer *answer)
{
	const struct process_growth *process = &answer->process;

	answer->verdict = answer->row_count ? answer->row[0].trend.verdict : TREND_STEADY;
	if (answer->verdict == TREND_TOO_FEW)
		answer->more_ns = answer->row[0].trend.more_ns;
	answer->explained =
		answer->growing && process->is_known && process->slope > 0 && process->low > 0
			? answer->slope / process->slope
			: -1;
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

static int find_all(struct finder *finder)
{
	struct answer *answer = finder->answer;
	struct group rest;
	uint32_t call;
	int err;

	find_calls(finder);
	add_groups(finder);
	find_trends(finder);
	find_old_freed(finder);
	err = find_rest(finder, &rest, &call);
	if (err)
		return err;
	const bool rest_grows = trend_is_growth(rest.trend.verdict) && rest.stack != NO_GROUP;
	for (size_t i = 0; i < finder->group_count; i++) {
		struct group *group = &finder->group[i];

		if (trend_is_growth(group->trend.verdict))
			compare(finder, group);
		else if (rest_grows)
			continue; /* its part of the whole is decided */
		add_group(finder, group, NO_GROUP);
	}
	if (rest_grows) {
		compare(finder, &rest);
		add_group(finder, &rest, call);
	}
	set_verdict(answer);
	return 0;
}

static int make_room(struct finder *finder)
{
	const size_t stacks = finder->profile->stack_count,
		     functions = finder->answer->frames.functions.count;

	finder->call_of = calloc(stacks + 1, sizeof(*finder->call_of));
	finder->stack_live = calloc(stacks + 1, sizeof(*finder->stack_live));
	finder->stack_late = calloc(stacks + 1, sizeof(*finder->stack_late));
	finder->group_of = malloc((functions + 1) * sizeof(*finder->group_of));
	finder->group = malloc((functions + 1) * sizeof(*finder->group));
	if (!finder->call_of || !finder->stack_live || !finder->stack_late || !finder->group_of ||
	    !finder->group)
		return -ENOMEM;
	for (size_t i = 0; i <= functions; i++)
		finder->group_of[i] = NO_GROUP;
	return 0;
}

int answer_open(const struct profile *profile, double tail_ns, double level,
		struct answer *out_answer)
{
	struct finder finder = {.profile = profile, .answer = out_answer, .level = level};
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
	if (!err && window_ns > 0 && tail_ns < window_ns) {
		out_answer->detectable = detectable_rate(profile, window_ns);
		row_trend_begin(profile, tail_ns, &finder.begin);
		err = make_room(&finder);
		if (!err && !caveats_withhold_verdicts(caveats_bits(&profile->meta)))
			err = find_all(&finder);
	}
	free(finder.call_of);
	free(finder.stack_live);
	free(finder.stack_late);
	free(finder.group_of);
	free(finder.group);
	return err;
}

void answer_close(struct answer *answer)
{
	user_frames_close(&answer->frames);
	*answer = (struct answer){0};
}
