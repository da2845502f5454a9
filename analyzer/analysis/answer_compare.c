/* SPDX-License-Identifier: MIT */
/*
 * answer_compare.c - what grows by its samples, compared with frees of blocks from before the
 * session and with the memory of the process. See answer.h.
 */
#include <math.h>

#include "answer_groups.h"

#define NS_PER_S 1e9
/*
 * What was seen grows this much faster than the process at least, if it replaces older blocks;
 * where the process grows half as fast, it may be either.
 */
#define REPLACES_TIMES 2.0
/* all groups together, as often as memory that was free before is not filled again */
#define TOGETHER_TIMES 1.3
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

/*
 * Compares a group that grows by its samples with what else is known. The frees of older blocks
 * decide. Where these are not known, the memory of the process does: it contradicts that something
 * grows which grows faster than it. And what holds so little that the process would not show it may
 * take the place of older blocks, too.
 */
void answer_compare(const struct finder *finder, struct group *group)
{
	const struct process_growth *process = &finder->answer->process;
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
	if (process->is_known && group->trend.slope_low > REPLACES_TIMES * fmax(process->high, 0)) {
		group->trend.verdict = TREND_REPLACES;
	} else if (grown < SHOWS_BYTES) {
		group->trend.verdict = TREND_TOO_FEW;
		group->trend.more_ns = window_ns * (SHOWS_BYTES / grown - 1);
	}
}

/*
 * Compares all groups that grow with the process: if they grow by more than it together, some of
 * them replace older blocks. Which ones is not known of those that frees do not confirm.
 */
void answer_compare_all(struct finder *finder)
{
	const struct process_growth *process = &finder->answer->process;
	double sum = 0;
	size_t growing = 0;

	for (size_t i = 0; i < finder->group_count; i++) {
		if (!trend_is_growth(finder->group[i].trend.verdict))
			continue;
		sum += finder->group[i].trend.slope_low;
		growing++;
	}
	if (!process->is_known || growing < 2 || sum <= TOGETHER_TIMES * fmax(process->high, 0))
		return;
	for (size_t i = 0; i < finder->group_count; i++) {
		struct group *group = &finder->group[i];

		if (!trend_is_growth(group->trend.verdict) || group->is_confirmed)
			continue;
		group->trend.verdict = TREND_TOO_FEW;
		group->trend.more_ns = finder->answer->window_ns;
	}
}
