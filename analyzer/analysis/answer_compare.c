/* SPDX-License-Identifier: MIT */
/*
 * answer_compare.c - what grows by its samples, compared with frees of blocks from before the
 * session, with what the allocators count in use, and with the memory of the process. See answer.h.
 */
#include <math.h>

#include "answer_groups.h"

#define NS_PER_S 1e9
/*
 * What was seen grows this much faster than what is in use at least, if it replaces older blocks;
 * where that grows half as fast, it may be either.
 */
#define REPLACES_TIMES 2.0
/* all groups together, as often as memory that was free before is not filled again */
#define TOGETHER_TIMES 1.3
/* the same beside what is in use, to which pages make no difference, */
#define USE_TIMES 1.1
/* and of what is held: less came in use, of which the first tenth of the window is not known */
#define USE_SHARE 0.8
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

/* The class of the usable size of a row's blocks. */
static uint32_t class_of(const struct profile_row *row)
{
	return row->alloc_count
		       ? hi_size_class((row->alloc_bytes + row->alloc_slack) / row->alloc_count)
		       : 0;
}

void answer_add_sizes(const struct profile *profile, const struct profile_row *row,
		      struct sizes *sizes)
{
	sizes->bytes[class_of(row)] += estimate_of(profile, row, INUSE_SPACE).value;
}

/*
 * The variance of what was freed in a class, by the number of frees that were seen. If few were,
 * three more may have been missed by chance; where all are seen, none was.
 */
static double variance_of(uint32_t size_class, const struct profile_freed *freed, double share)
{
	const double all = (double)freed->bytes,
		     size = (double)(4ull + (size_class & 3)) * exp2(size_class / 4);
	const double missed = share < 1 ? FEW_SEEN * size / share : 0;

	return (freed->seen ? (1 - share) * all * all / (double)freed->seen : 0) +
	       (freed->seen < FEW_SEEN ? missed * missed / 4 : 0);
}

/*
 * What is freed and was no sample is of the time before, but for blocks of the session that no
 * sample was taken of. Of these there are as many as the freed samples stand for, without the
 * samples themselves. Where they are most of what was freed, nothing is known: addresses that come
 * again and again are looked at always or never.
 */
void answer_find_old_freed(struct finder *finder)
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
		/* what was there before was not more; one address that is freed often was counted
		 */
		if (meta->memory.anonymous_begin &&
		    finder->old_freed[i] > (double)meta->memory.anonymous_begin)
			finder->old_variance[i] = -1;
	}
}

/*
 * The lower end of what is in use more, of all classes of which it is known: where objects of one
 * size take the place of others of another size, the classes of a group do not show it.
 */
static double balance_low(const struct finder *finder)
{
	double balance = 0, variance = 0;

	for (uint32_t i = 0; i < HI_SIZE_CLASSES; i++) {
		if (finder->old_variance[i] < 0)
			continue;
		balance += finder->sizes.bytes[i] - finder->old_freed[i];
		variance += finder->old_variance[i];
	}
	return balance - 2 * sqrt(variance);
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

/* Whether the count of what is in use contradicts that the group grows. */
static bool is_balanced(const struct finder *finder, const struct group *group)
{
	const struct heap_use *use = &finder->answer->use;

	return use->is_known && group->trend.slope_low > REPLACES_TIMES * fmax(use->high, 0) &&
	       use->bytes < GROWTH_SHARE * group->live;
}

/* Whether what is in use grows by half as much at least, beside what grows anyway. */
static bool is_counted(const struct finder *finder, double slope, double other_slope)
{
	const struct heap_use *use = &finder->answer->use;

	return use->is_known && use->low - other_slope > GROWTH_SHARE * slope;
}

/*
 * Whether the memory of the process grows by less than that. It does not say why: blocks replace
 * others, or fill memory that was free, or most of their pages are never touched.
 */
static bool is_unshown(const struct finder *finder, double slope_low, double times)
{
	const struct process_growth *process = &finder->answer->process;

	return process->is_known && slope_low > times * fmax(process->high, 0);
}

/* What the process had at the start is replaced, or filled, by then at the latest. */
static double until_shown_ns(const struct finder *finder, const struct group *group)
{
	const double before = (double)finder->profile->meta.memory.anonymous_begin;

	return fmax(finder->answer->window_ns,
		    before / group->trend.slope * NS_PER_S - finder->answer->window_ns);
}

static void leave_open(struct group *group, double more_ns)
{
	group->trend.verdict = TREND_TOO_FEW;
	group->trend.more_ns = more_ns;
}

/*
 * Compares a group that grows by its samples with what else is known. The frees of older blocks
 * decide, or else the allocators' count of what is in use. Where neither does, the memory of the
 * process may contradict, which leaves it open. And what holds so little that the process would not
 * show it may take the place of older blocks, too.
 */
void answer_compare(const struct finder *finder, struct group *group)
{
	const double window_ns = finder->answer->window_ns,
		     grown = group->trend.slope * window_ns / NS_PER_S;
	double low, high;

	if (find_excess(finder, group, &low, &high)) {
		if (high < GROWTH_SHARE * group->live)
			group->trend.verdict = TREND_REPLACES;
		if (high < GROWTH_SHARE * group->live)
			return;
		group->is_confirmed = low > GROWTH_SHARE * group->live &&
				      balance_low(finder) > GROWTH_SHARE * group->live;
		if (group->is_confirmed)
			return;
	}
	if (is_balanced(finder, group)) {
		group->trend.verdict = TREND_REPLACES;
	} else if (!is_counted(finder, group->trend.slope, 0)) {
		group->is_unshown = is_unshown(finder, group->trend.slope_low, REPLACES_TIMES);
		if (group->is_unshown)
			leave_open(group, until_shown_ns(finder, group));
		else if (grown < SHOWS_BYTES)
			leave_open(group, window_ns * (SHOWS_BYTES / grown - 1));
	}
}

/* What is in use grows by more than all that grows: what seems to replace older blocks may, too. */
static void doubt_replaced(struct finder *finder)
{
	double other_slope = 0;

	for (size_t i = 0; i < finder->group_count; i++)
		if (trend_is_growth(finder->group[i].trend.verdict))
			other_slope += finder->group[i].trend.slope_high;
	for (size_t i = 0; i < finder->group_count; i++) {
		struct group *group = &finder->group[i];

		if (group->trend.verdict == TREND_REPLACES &&
		    is_counted(finder, group->trend.slope, other_slope))
			leave_open(group, finder->answer->window_ns);
	}
}

/* Neither is enough: what began late has a slope of its own, and what is held may be of before. */
bool answer_exceeds_use(const struct answer *answer, double slope_low, double live)
{
	const struct heap_use *use = &answer->use;

	return use->is_known && slope_low > USE_TIMES * fmax(use->high, 0) &&
	       use->bytes < USE_SHARE * live;
}

/* Usable bytes to each byte that was requested, as far as is known. */
static double usable_times(const struct group *group)
{
	const struct estimate *bytes = &group->sum.bytes;

	return bytes->value > 0 ? 1 + bytes->slack / bytes->value : 1;
}

/* Of all groups that grow, in usable bytes but for sizes. */
struct growing {
	size_t count;
	double slope_low; /* of the sum of their slopes, whose errors are independent */
	double live;
	struct sizes sizes;
};

static struct growing sum_growing(const struct finder *finder)
{
	struct growing growing = {0};
	double slope = 0, squares = 0;

	for (size_t i = 0; i < finder->group_count; i++) {
		const struct group *group = &finder->group[i];

		if (!trend_is_growth(group->trend.verdict))
			continue;
		const double usable = usable_times(group);
		const double spread = usable * (group->trend.slope - group->trend.slope_low);

		slope += usable * group->trend.slope;
		squares += spread * spread;
		for (uint32_t k = 0; k < HI_SIZE_CLASSES; k++)
			growing.sizes.bytes[k] += group->sizes.bytes[k];
		growing.live += usable * group->live;
		growing.count++;
	}
	growing.slope_low = slope - sqrt(squares);
	return growing;
}

/*
 * Whether frees confirm that the group itself grows. What came in addition in its classes may be
 * of any group that grows there, as classes have no stacks: the others may have all that they hold.
 */
static bool is_confirmed_itself(const struct finder *finder, const struct group *group,
				const struct sizes *growing)
{
	double low, high;

	if (!group->is_confirmed || !find_excess(finder, group, &low, &high))
		return false;
	for (uint32_t i = 0; i < HI_SIZE_CLASSES; i++)
		if (group->sizes.bytes[i] > 0 && finder->old_variance[i] >= 0)
			low -= growing->bytes[i] - group->sizes.bytes[i];
	return low > GROWTH_SHARE * group->live;
}

/*
 * Compares all groups that grow with what is in use, and with the process: if they grow by more
 * than it together, some of them replace older blocks. Which ones is not known of those that frees
 * do not confirm.
 */
void answer_compare_all(struct finder *finder)
{
	struct answer *answer = finder->answer;
	const struct growing growing = sum_growing(finder);

	doubt_replaced(finder);
	if (growing.count < 2)
		return;
	if (!answer_exceeds_use(answer, growing.slope_low, growing.live) &&
	    (is_counted(finder, growing.slope_low, 0) ||
	     !is_unshown(finder, growing.slope_low, TOGETHER_TIMES)))
		return;
	for (size_t i = 0; i < finder->group_count; i++) {
		struct group *group = &finder->group[i];

		if (!trend_is_growth(group->trend.verdict) ||
		    is_confirmed_itself(finder, group, &growing.sizes))
			continue;
		answer->doubted++;
		answer->doubted_slope += group->trend.slope;
		leave_open(group, answer->window_ns);
	}
}
