/* SPDX-License-Identifier: MIT */
/*
 * estimate.c - Horvitz-Thompson sums and their intervals. Derivation, sources and measured
 * coverage: docs/sampling.md.
 *
 * Samples are points of a Poisson process over the bytes allocated, one per R bytes in the mean; an
 * object of s bytes is in the sample when at least one point falls into it, with probability p = 1
 * - e^(-s/R). Each sampled object therefore stands for 1/p objects, s/p bytes. Start at
 * estimate_row().
 */
#include "estimate.h"

#include <math.h>

#include "caveats.h"

#define TAIL 0.025 /* probability beyond either end of an interval */
#define NORMAL_TAIL 1.959964
#define STEPS 60
#define PRECISION 1e-11
#define VALUE_MAX 0x1p62

/* Objects of one mean size, in bytes, and with which probability one of them is in the sample. */
struct chance {
	double size, probability;
	bool is_sampled; /* false: each was counted */
};

/*
 * No point falls into a block of 0 bytes. A file that reports such blocks has counted them, not
 * sampled them.
 */
static struct chance chance_of(uint64_t count, uint64_t bytes, uint64_t interval)
{
	struct chance chance = {.size = count ? (double)bytes / (double)count : 0,
				.probability = 1};

	chance.is_sampled = interval > HI_INTERVAL_EXACT && chance.size > 0;
	if (chance.is_sampled)
		chance.probability = -expm1(-chance.size / (double)interval);
	return chance;
}

/* `count` of the objects were sampled. */
static struct estimate estimate_sampled(uint64_t count, const struct chance *chance,
					uint64_t interval, enum sample_type type)
{
	const double each = sample_type_is_space(type) ? chance->size : 1,
		     weight = each / chance->probability;

	if (!chance->is_sampled)
		return (struct estimate){.value = (double)count * each, .samples = (double)count};
	return (struct estimate){
		.value = (double)count * weight,
		.variance = (double)count * weight * weight * (1 - chance->probability),
		.samples = (double)count,
		.unit = each * (double)interval / chance->size,
	};
}

struct estimate estimate_row(uint64_t count, uint64_t bytes, uint64_t interval,
			     enum sample_type type)
{
	const struct chance chance = chance_of(count, bytes, interval);

	return estimate_sampled(count, &chance, interval, type);
}

/* weight: how many objects each sample of the row stands for. */
static void add_details(const struct profile *profile, const struct profile_row *row, double weight,
			enum sample_type type, struct estimate *estimate)
{
	const double end_ns = (double)profile->meta.duration_ns;

	estimate->slack =
		weight * (double)(sample_type_is_inuse(type) ? row->inuse_slack : row->alloc_slack);
	estimate->live = weight * (double)row->inuse_count;
	estimate->age_ns = weight * fmax(0, (double)row->inuse_count * end_ns - row->inuse_ns);
	estimate->freed = weight * (double)row->freed_count;
	estimate->lifetime_ns = weight * row->freed_ns;
}

/*
 * Makes the estimate one of the base side: what the base has counts negatively in the difference,
 * and may count for more or less than it is (meta.base_scale). The further figures (slack, ages,
 * lifetimes) are given for the new side alone.
 */
static void turn_around(struct estimate *estimate, double scale)
{
	estimate->base = estimate->value * scale;
	estimate->value = -estimate->base;
	estimate->variance *= scale * scale;
	estimate->unit *= scale;
	estimate->slack = estimate->live = estimate->age_ns = estimate->freed =
		estimate->lifetime_ns = 0;
}

static void scale_by(struct estimate *estimate, double scale)
{
	estimate->value *= scale;
	estimate->variance *= scale * scale;
	estimate->unit *= scale;
	estimate->slack *= scale;
}

/* Allows for one more sample of this interval. */
static void widen_to(uint64_t interval, double size, enum sample_type type,
		     struct estimate *estimate)
{
	if (interval > HI_INTERVAL_EXACT && size > 0)
		estimate->unit = fmax(estimate->unit, (sample_type_is_space(type) ? size : 1) *
							      (double)interval / size);
}

/*
 * Where the interval changed, a place may have allocated while it was coarser than any with which
 * the place has a sample: most likely without giving one, and then its samples show nothing of it.
 */
static void widen_by_changes(const struct profile_meta *meta, double size, enum sample_type type,
			     struct estimate *estimate)
{
	for (size_t i = 0; i < meta->change_count && i < PROFILE_CHANGES_MAX; i++)
		widen_to(meta->change[i].interval, size, type, estimate);
}

/*
 * Of an estimate of bytes in use, those of this type. Every sampled block has its own share. The
 * variance would follow from the squares of the shares, which are not kept; a share is at most 1,
 * so the variance is at most this, and just this if each block has all its bytes or none.
 */
static void take_share(const struct profile_row *row, enum sample_type type,
		       struct estimate *estimate)
{
	const double share =
		row->inuse_bytes ? (double)sample_type_of_row(row, type) / (double)row->inuse_bytes
				 : 0;

	estimate->value *= share;
	estimate->variance *= share;
	estimate->samples *= share;
	estimate->slack = 0; /* it is known of whole blocks only */
}

/* alloc: of all that the row allocated. */
static struct estimate estimate_by(const struct profile *profile, const struct profile_row *row,
				   const struct chance *alloc, const struct chance *inuse,
				   enum sample_type type)
{
	struct estimate estimate =
		sample_type_is_inuse(type)
			? estimate_sampled(row->inuse_count, inuse, row->key.interval, type)
			: estimate_sampled(row->alloc_count, alloc, row->key.interval, type);

	if (row->alloc_count) {
		widen_by_changes(&profile->meta, alloc->size, type, &estimate);
		widen_to(row->grain, alloc->size, type, &estimate); /* likewise, by thinning */
		add_details(profile, row, 1 / alloc->probability, type, &estimate);
	}
	if (type >= SAMPLE_TYPES_ALWAYS)
		take_share(row, type, &estimate);
	if (row->key.side == PROFILE_NEW && profile->meta.new_scale[type] != 0)
		scale_by(&estimate, profile->meta.new_scale[type]);
	if (row->key.side == PROFILE_BASE)
		turn_around(&estimate, profile->meta.base_scale > 0 ? profile->meta.base_scale : 1);
	if (profile_row_balances(profile, row))
		estimate.base = 0;
	if (caveats_withdraw(&profile->meta, sample_type_is_inuse(type)))
		estimate.variance = estimate.unit = 0;
	return estimate;
}

/*
 * Of what is in use. If no sample is live, the mean size of all says how much may be live
 * unsampled. Mostly the mean size is the same, as rows are by size class.
 */
static struct chance inuse_chance(const struct profile_row *row, const struct chance *alloc)
{
	if (row->alloc_count && (!row->inuse_count || (row->inuse_count == row->alloc_count &&
						       row->inuse_bytes == row->alloc_bytes)))
		return *alloc;
	const struct chance inuse =
		chance_of(row->inuse_count, row->inuse_bytes, row->key.interval);

	/* a mapping was as likely to be a sample before a part of it was unmapped */
	return row->is_mapping && row->alloc_count
		       ? (struct chance){inuse.size, alloc->probability, inuse.is_sampled}
		       : inuse;
}

struct estimate estimate_of(const struct profile *profile, const struct profile_row *row,
			    enum sample_type type)
{
	if ((int)type >= sample_type_count(profile))
		return (struct estimate){0};
	const struct chance alloc =
		chance_of(row->alloc_count, row->alloc_bytes, row->key.interval);
	const struct chance inuse = sample_type_is_inuse(type) ? inuse_chance(row, &alloc) : alloc;

	return estimate_by(profile, row, &alloc, &inuse, type);
}

void estimates_of(const struct profile *profile, const struct profile_row *row,
		  struct estimate out_estimate[SAMPLE_TYPE_COUNT])
{
	const struct chance alloc =
		chance_of(row->alloc_count, row->alloc_bytes, row->key.interval);
	const struct chance inuse = inuse_chance(row, &alloc);

	const int known = sample_type_count(profile);

	for (int type = 0; type < known; type++)
		out_estimate[type] =
			estimate_by(profile, row, &alloc, &inuse, (enum sample_type)type);
	for (int type = known; type < SAMPLE_TYPE_COUNT; type++)
		out_estimate[type] = (struct estimate){0};
}

enum sample_type estimate_first_type(const struct profile *profile)
{
	return profile->meta.missing & PROFILE_MISSING_ALLOC ? INUSE_OBJECTS : ALLOC_OBJECTS;
}

double estimate_mean(double value, double divisor)
{
	return round(divisor) == 0 ? value : trunc(round(value) / round(divisor));
}

static double share_of(const struct profile_row *row, const struct part *part,
		       enum sample_type type)
{
	const uint64_t whole = sample_type_of_row(row, type);

	if (whole)
		return (double)sample_type_of_part(part, type) / (double)whole;
	return row->alloc_count ? (double)part->alloc_count / (double)row->alloc_count : 1;
}

struct estimate estimate_part(const struct profile *profile, const struct profile_row *row,
			      const struct part *part, enum sample_type type)
{
	struct estimate estimate = estimate_of(profile, row, type);
	const double share = part ? share_of(row, part, type) : 1;

	estimate.value *= share;
	estimate.base *= share;
	estimate.variance *= share;
	estimate.samples *= share;
	estimate.slack *= share;
	estimate.live *= share;
	estimate.age_ns *= share;
	estimate.freed *= share;
	estimate.lifetime_ns *= share;
	return estimate;
}

struct estimate estimate_total(const struct profile *profile, enum sample_type type)
{
	struct estimate total = {0};

	for (size_t i = 0; i < profile->row_count; i++) {
		const struct estimate row = estimate_of(profile, &profile->row[i], type);

		estimate_add(&total, &row);
	}
	total.passed = (double)(sample_type_is_space(type) ? profile->meta.passed_bytes
							   : profile->meta.no_thread_slot);
	return total;
}

uint64_t estimate_round(double value)
{
	return (uint64_t)llround(fmin(value, VALUE_MAX));
}

/*
 * Mean and standard deviation of the cube root of a gamma distribution, which is nearly normal
 * (Wilson and Hilferty). Good to 1 % from shape 1 on, which is all that matters here. Without
 * variance the distribution is a step.
 */
struct cube_root {
	double mean, deviation;
};

static struct cube_root cube_root_of(double mean, double variance)
{
	const double root = cbrt(mean), spread = mean > 0 ? variance / (9 * mean * mean) : 0;

	return (struct cube_root){.mean = root * (1 - spread), .deviation = root * sqrt(spread)};
}

static double share_below(const struct cube_root *root, double at)
{
	return root->deviation > 0 ? 0.5 * erfc((root->mean - at) / (root->deviation * M_SQRT2))
				   : at >= root->mean;
}

/*
 * The mid-p gamma interval of Fay and Kim for a weighted sum of Poisson counts. The sum behaves
 * like a multiple of a Poisson count, whose exact limits (Garwood's, and Fay and Feuer's for
 * weighted sums) are quantiles of two gamma distributions: for the lower limit, of what was seen;
 * for the upper limit, of what was seen plus one sample. Each limit errs on the safe side by up to
 * a whole sample. The mixture of both distributions in equal parts (mid-p) does not.
 */
struct mixture {
	struct cube_root seen, more;
};

/*
 * By how much the shares of both distributions below `at` together exceed twice `share`. One sample
 * more never makes a larger sum less likely. So where the wider distribution (`more`) has the
 * larger share below `at`, its share is cut to that of `seen`.
 */
static double excess(const struct mixture *mixture, double at, double share)
{
	const double seen = share_below(&mixture->seen, at);

	return seen + fmin(seen, share_below(&mixture->more, at)) - 2 * share;
}

/* A place, and the excess there. */
struct trial {
	double at, excess;
};

/*
 * Finds the place of excess 0 by false position, in the Illinois variant: an end that stays twice
 * counts for half. It takes some seven steps, where halving takes forty. low and high: places with
 * too little and too much excess.
 */
static double place_between(const struct mixture *mixture, struct trial low, struct trial high,
			    double share)
{
	struct trial trial = low;
	/* number of last trials that were all on one side; negative: too little */
	int same_side = 0;

	for (int i = 0;
	     i < STEPS && fabs(trial.excess) > PRECISION && high.at - low.at > PRECISION * high.at;
	     i++) {
		trial.at =
			(low.at * high.excess - high.at * low.excess) / (high.excess - low.excess);
		trial.excess = excess(mixture, trial.at, share);
		if (trial.excess < 0) {
			low = trial;
			same_side = same_side < 0 ? same_side - 1 : -1;
			high.excess /= same_side < -1 ? 2 : 1;
		} else {
			high = trial;
			same_side = same_side > 0 ? same_side + 1 : 1;
			low.excess /= same_side > 1 ? 2 : 1;
		}
	}
	return trial.at;
}

/*
 * The quantile of the mixture at `share`. deviations: the same quantile of a normal distribution,
 * in standard deviations above its mean. The place lies between those of the two parts of the
 * mixture.
 */
static double quantile(const struct estimate *estimate, double share, double deviations)
{
	const struct mixture mixture = {
		.seen = cube_root_of(estimate->value, estimate->variance),
		.more = cube_root_of(estimate->value + estimate->unit,
				     estimate->variance + estimate->unit * estimate->unit),
	};
	struct trial low = {.at = fmax(0, mixture.seen.mean + deviations * mixture.seen.deviation)};
	struct trial high = {
		.at = fmax(low.at, mixture.more.mean + deviations * mixture.more.deviation)};
	double root = low.at;

	low.excess = excess(&mixture, low.at, share);
	high.excess = excess(&mixture, high.at, share);
	if (low.excess < 0)
		root = high.excess > 0 ? place_between(&mixture, low, high, share) : high.at;
	return root * root * root;
}

static void interval_of_samples(const struct estimate *estimate, double *out_low, double *out_high)
{
	*out_low = *out_high = estimate->value;
	if (estimate->variance <= 0 && estimate->unit <= 0)
		return;
	if (estimate->base > 0) {
		/*
		 * A difference of two sums is normal, with room for one sample more on either side.
		 */
		const double spread =
			NORMAL_TAIL * sqrt(estimate->variance + estimate->unit * estimate->unit);

		*out_low = estimate->value - spread;
		*out_high = estimate->value + spread;
		return;
	}
	*out_low = fmin(estimate->value, quantile(estimate, TAIL, -NORMAL_TAIL));
	*out_high = fmax(estimate->value, quantile(estimate, 1 - TAIL, NORMAL_TAIL));
}

/*
 * Whether the allocations that were passed over belong to this sum follows no known probability. So
 * they widen the interval by their whole amount.
 */
void estimate_interval(const struct estimate *estimate, double *out_low, double *out_high)
{
	double low, high;

	interval_of_samples(estimate, &low, &high);
	*out_low = estimate->base > 0 ? low - estimate->passed : low;
	*out_high = high + estimate->passed;
}

void estimate_normalize(struct profile *profile)
{
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++) {
		const struct estimate total = estimate_total(profile, (enum sample_type)type);
		const double new = total.value + total.base;

		if (new > 0 && total.base > 0)
			profile->meta.new_scale[type] = total.base / new;
	}
}
