/* SPDX-License-Identifier: MIT */
/* census_growth.c - see census_growth.h. */
#include "census_growth.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "hi_slope.h"

#define LEVEL 0.05 /* the probability that any row of all is wrongly said to grow, or to shrink */

static_assert(CENSUS_LOOKS_MIN == SLOPE_POINTS_MIN, "from so many on there is an interval");

/* ---- order ----------------------------------------------------------------------------------- */

static int compare_numbers(double left, double right)
{
	return left > right ? -1 : left < right;
}

static int compare_bytes(const void *a, const void *b)
{
	const struct census_row *left = a, *right = b;

	if (left->group->bytes != right->group->bytes)
		return left->group->bytes > right->group->bytes ? -1 : 1;
	return left->group->sample < right->group->sample ? -1 : 1;
}

/* By what it grows at least, shrinks at least, or has changed by. */
static double key_of(const struct census_row *row)
{
	switch (row->verdict) {
	case CENSUS_GROWS:
	case CENSUS_PROBABLY_GROWS:
		return row->bytes.low;
	case CENSUS_SHRINKS:
	case CENSUS_PROBABLY_SHRINKS:
		return -row->bytes.high;
	case CENSUS_STEADY:
		return 0;
	default:
		return row->bytes.value;
	}
}

static int compare(const void *a, const void *b)
{
	const struct census_row *left = a, *right = b;

	if (left->verdict != right->verdict)
		return left->verdict < right->verdict ? -1 : 1;
	const int order = compare_numbers(key_of(left), key_of(right));

	return order ? order : compare_bytes(a, b);
}

/* ---- rates ----------------------------------------------------------------------------------- */

struct points {
	unsigned count;
	double time[CENSUS_LOOKS_MAX], blocks[CENSUS_LOOKS_MAX], bytes[CENSUS_LOOKS_MAX];
};

/* With too few looks: from the first to the last. */
static int find_rate(const double *time, const double *value, unsigned count,
		     struct census_rate *out_rate, double *out_chance)
{
	const unsigned last = count - 1;
	struct slope slope;

	*out_chance = 1;
	*out_rate = (struct census_rate){.low = -INFINITY, .high = INFINITY};
	if (time[last] <= time[0])
		return 0;
	out_rate->value = (value[last] - value[0]) / (time[last] - time[0]);
	if (count < CENSUS_LOOKS_MIN)
		return 0;
	const int err = slope_of(time, value, count, &slope);
	if (err)
		return err;
	*out_rate = (struct census_rate){slope.value, slope.low, slope.high};
	*out_chance = slope.chance;
	return 0;
}

/* Of as many steps in one direction, or more, by the toss of a coin; both tails. */
static double chance_of_steps(const double *value, unsigned count)
{
	unsigned up = 0, down = 0;
	double ways = 1, tail = 0;

	for (unsigned i = 1; i < count; i++) {
		up += value[i] > value[i - 1];
		down += value[i] < value[i - 1];
	}
	const unsigned steps = up + down, fewer = up < down ? up : down;

	for (unsigned i = 0; i <= fewer; i++) {
		tail += ways;
		ways = ways * (steps - i) / (i + 1);
	}
	return fmin(1, 2 * tail / exp2(steps));
}

static int set_rates(struct points *points, const struct census_amount *amount,
		     struct census_row *row)
{
	double chance, of_blocks;

	for (unsigned i = 0; i < points->count; i++) {
		points->blocks[i] = (double)amount[i].blocks;
		points->bytes[i] = (double)amount[i].bytes;
		row->has_changed |=
			amount[i].blocks != amount[0].blocks || amount[i].bytes != amount[0].bytes;
	}
	row->chance = 1;
	if (!row->has_changed)
		return 0;
	const int err = find_rate(points->time, points->bytes, points->count, &row->bytes, &chance);
	if (err)
		return err;
	/* the better one of two */
	row->chance = fmin(1, 2 * fmin(chance, chance_of_steps(points->bytes, points->count)));
	return find_rate(points->time, points->blocks, points->count, &row->blocks, &of_blocks);
}

/* changed: so many rows have. */
static enum census_verdict verdict_of(const struct census_row *row, unsigned looks, size_t changed)
{
	if (!row->has_changed)
		return CENSUS_STEADY;
	if (looks < CENSUS_LOOKS_MIN)
		return CENSUS_TOO_FEW;
	if (!isfinite(row->bytes.low) || !isfinite(row->bytes.high))
		return CENSUS_CANNOT_TELL;
	if (row->bytes.low <= 0 && row->bytes.high >= 0)
		return CENSUS_STEADY;
	const bool is_certain = row->chance * (double)changed < LEVEL;

	if (row->bytes.low > 0)
		return is_certain ? CENSUS_GROWS : CENSUS_PROBABLY_GROWS;
	return is_certain ? CENSUS_SHRINKS : CENSUS_PROBABLY_SHRINKS;
}

static int find_rows(const struct census *now, const struct census_looks *looks,
		     struct census_growth *growth)
{
	struct census_amount amount[CENSUS_LOOKS_MAX];
	struct points points = {.count = looks->count};
	size_t changed = 0;

	for (unsigned i = 0; i < looks->count; i++)
		points.time[i] = (double)(looks->look[i].at_ns - looks->look[0].at_ns) / 1e9;
	for (size_t i = 0; i < now->count; i++) {
		struct census_row *row = &growth->row[i];

		row->group = &now->group[i];
		if (!looks->count || !census_looks_of(looks, row->group, amount))
			continue;
		const int err = set_rates(&points, amount, row);
		if (err)
			return err;
		changed += row->has_changed;
	}
	for (size_t i = 0; i < now->count; i++)
		growth->row[i].verdict = verdict_of(&growth->row[i], looks->count, changed);
	growth->seconds = looks->count ? points.time[looks->count - 1] : 0;
	return 0;
}

int census_growth_find(const struct census *now, const struct census_looks *looks,
		       struct census_growth *out_growth)
{
	*out_growth = (struct census_growth){
		.row = calloc(now->count + 1, sizeof(*out_growth->row)),
		.count = now->count,
		.looks = looks->count,
	};
	const int err = out_growth->row ? find_rows(now, looks, out_growth) : -ENOMEM;

	if (!err && now->count)
		qsort(out_growth->row, now->count, sizeof(*out_growth->row),
		      looks->count ? compare : compare_bytes);
	return err;
}

void census_growth_close(struct census_growth *growth)
{
	free(growth->row);
	*growth = (struct census_growth){0};
}

const char *census_verdict_word(enum census_verdict verdict)
{
	static const char *const word[CENSUS_VERDICTS] = {
		[CENSUS_GROWS] = "grows",           [CENSUS_PROBABLY_GROWS] = "probably grows",
		[CENSUS_TOO_FEW] = "too few looks", [CENSUS_CANNOT_TELL] = "cannot tell",
		[CENSUS_SHRINKS] = "shrinks",       [CENSUS_PROBABLY_SHRINKS] = "probably shrinks",
		[CENSUS_STEADY] = "steady",
	};

	return word[verdict];
}
