/* SPDX-License-Identifier: MIT */
/*
 * estimate_test.c - estimates are unbiased, and their intervals hold the truth as often as they
 * say.
 *
 * `coverage` is the table of docs/sampling.md: print it with COVERAGE=1 in the environment.
 */
#include "unit.h"

#include <math.h>

#include "estimate.h"

#define INTERVAL 65536u
#define CASES 1500u
#define SIZES_MAX 3u
/*
 * What a site may hold that no sample was taken of: -ln(0.05) is the expected number of points that
 * yields none in 5 % of cases.
 */
#define UNSEEN_BYTES (2.995732 * INTERVAL)

/* splitmix64: fixed seeds give the same cases on every machine. */
static uint64_t random_state;

static double random_unit(void)
{
	uint64_t value = random_state += 0x9e3779b97f4a7c15ull;

	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
	return ((double)((value ^ (value >> 31)) >> 11) + 0.5) * 0x1p-53;
}

/*
 * How many of `objects` objects a Poisson process over their bytes hits: the gap to the next point,
 * in objects, is geometric.
 */
static uint64_t sampled(uint64_t objects, double size)
{
	uint64_t count = 0, position = 0;

	for (;;) {
		const double gap = floor(-log(random_unit()) * INTERVAL / size);

		if (gap >= (double)(objects - position))
			return count;
		position += (uint64_t)gap + 1;
		count++;
		if (position >= objects)
			return count;
	}
}

struct site {
	uint64_t size[SIZES_MAX]; /* 0 = no more */
	double samples;           /* expected */
};

static uint64_t objects_of(const struct site *site, size_t at, size_t kinds)
{
	const double wanted =
		site->samples / (double)kinds / -expm1(-(double)site->size[at] / INTERVAL);

	return wanted < 1 ? 1 : (uint64_t)llround(wanted);
}

/*
 * Share of cases in which the interval holds the truth. A site without samples may hold what goes
 * unseen in 95 % of cases.
 */
static double coverage(const struct site *site, enum sample_type type)
{
	uint32_t inside = 0, cases = 0;

	for (uint32_t round = 0; round < CASES; round++) {
		struct estimate sum = {0};
		double truth = 0, low = 0, high = UNSEEN_BYTES;
		size_t kinds = 0;

		while (kinds < SIZES_MAX && site->size[kinds])
			kinds++;
		for (size_t k = 0; k < kinds; k++) {
			const uint64_t objects = objects_of(site, k, kinds),
				       count = sampled(objects, (double)site->size[k]);
			const struct estimate row =
				estimate_row(count, count * site->size[k], INTERVAL, type);

			if (count)
				estimate_add(&sum, &row);
			truth +=
				(double)objects * (type == INUSE_SPACE ? (double)site->size[k] : 1);
		}
		if (sum.samples == 0 && type != INUSE_SPACE)
			continue; /* of objects nobody knows the size of, nothing can be said */
		if (sum.samples > 0)
			estimate_interval(&sum, &low, &high);
		cases++;
		inside += low <= truth * (1 + 1e-9) && high >= truth * (1 - 1e-9);
	}
	return cases ? (double)inside / cases : 1;
}

UNIT_TEST(exact_mode_is_exact)
{
	const struct estimate bytes = estimate_row(3, 0, 1, INUSE_OBJECTS);
	double low, high;

	CHECK(bytes.value == 3);
	estimate_interval(&bytes, &low, &high);
	CHECK(low == 3 && high == 3);
	CHECK(estimate_row(3, 300, 1, ALLOC_SPACE).value == 300);
}

/*
 * It may be there or not, in what was allocated and in what is in use, and on either side of a
 * comparison.
 */
UNIT_TEST(what_was_passed_over_is_in_the_interval_of_a_total)
{
	struct profile_row row = {.key.interval = 1,
				  .alloc_count = 3,
				  .alloc_bytes = 300,
				  .inuse_count = 3,
				  .inuse_bytes = 300};
	struct profile profile = {
		.row = &row, .row_count = 1, .meta.no_thread_slot = 2, .meta.passed_bytes = 50};
	struct estimate total = estimate_total(&profile, INUSE_SPACE), alone = total;
	double low, high, alone_low, alone_high;

	estimate_interval(&total, &low, &high);
	CHECK(total.value == 300 && low == 300 && high == 350);
	total = estimate_total(&profile, ALLOC_OBJECTS);
	estimate_interval(&total, &low, &high);
	CHECK(total.value == 3 && low == 3 && high == 5);
	row.key.interval = INTERVAL;
	alone = total = estimate_total(&profile, ALLOC_SPACE);
	alone.passed = 0;
	estimate_interval(&alone, &alone_low, &alone_high);
	estimate_interval(&total, &low, &high);
	CHECK(low == alone_low && high == alone_high + 50);
	alone.base = total.base = 1000;
	estimate_interval(&alone, &alone_low, &alone_high);
	estimate_interval(&total, &low, &high);
	CHECK(low == alone_low - 50 && high == alone_high + 50);
}

UNIT_TEST(nothing_is_nothing)
{
	const struct estimate none = estimate_row(0, 0, INTERVAL, INUSE_SPACE);
	double low, high;

	CHECK(none.value == 0 && none.variance == 0);
	estimate_interval(&none, &low, &high);
	CHECK(low == 0 && high == 0);
}

UNIT_TEST(estimates_are_unbiased)
{
	static const uint64_t sizes[] = {16, 1000, 65536, 300000};

	random_state = 7;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const uint64_t objects = 20 * INTERVAL / sizes[i] + 20;
		double sum = 0;

		for (int round = 0; round < 4000; round++) {
			const uint64_t count = sampled(objects, (double)sizes[i]);

			sum += estimate_row(count, count * sizes[i], INTERVAL, INUSE_SPACE).value;
		}
		CHECK(fabs(sum / 4000 / (double)(objects * sizes[i]) - 1) < 0.02);
	}
}

UNIT_TEST(large_objects_are_certain)
{
	const struct estimate four = estimate_row(4, 4ull << 22, INTERVAL, INUSE_SPACE);
	double low, high;

	estimate_interval(&four, &low, &high);
	CHECK(fabs(four.value - (4 << 22)) < 1);
	CHECK(low > four.value * 0.999 && high < four.value * 1.02);
}

/* Two samples that are certain to have been taken, where as much as the grain may lie between. */
UNIT_TEST(thinning_widens_the_interval)
{
	struct profile profile = {.meta.interval = 1};
	struct profile_row row = {.key.interval = 1,
				  .alloc_count = 2,
				  .alloc_bytes = 200,
				  .inuse_count = 2,
				  .inuse_bytes = 200};
	double low, high, bytes_high;

	row.grain = 50000;
	struct estimate estimate = estimate_of(&profile, &row, INUSE_SPACE);
	CHECK(estimate.value == 200);
	estimate_interval(&estimate, &low, &bytes_high);
	CHECK(fabs(low - 200) < 1e-6);
	CHECK(bytes_high > 200 + 2.9 * 50000 && bytes_high < 200 + 3.1 * 50000);
	estimate = estimate_of(&profile, &row, INUSE_OBJECTS);
	estimate_interval(&estimate, &low, &high);
	CHECK(fabs(low - 2) < 1e-6 && fabs(high * 100 / bytes_high - 1) < 0.01);
	row.grain = 0;
	estimate = estimate_of(&profile, &row, INUSE_SPACE);
	estimate_interval(&estimate, &low, &high);
	CHECK(low == 200 && high == 200);
}

/* The changes beyond the first ones are counted, and not kept. */
UNIT_TEST(more_changes_than_are_kept)
{
	struct profile profile = {.meta.interval = 1};
	const struct profile_row row = {
		.key.interval = 1, .alloc_count = 2, .alloc_bytes = 200, .inuse_count = 2};

	profile.meta.duration_ns = 1ull << 60;
	profile.meta.start_unix_ns = profile.meta.slack_samples = 1ull << 60;
	for (uint32_t i = 0; i < 2 * PROFILE_CHANGES_MAX; i++)
		profile_add_change(&profile.meta, &(struct profile_change){i, 4096});
	CHECK_EQ(profile.meta.change_count, 2 * PROFILE_CHANGES_MAX);
	CHECK(estimate_of(&profile, &row, ALLOC_SPACE).unit == 4096);
}

/* Freed as far as was seen: the value is 0, and the interval says how much may be left. */
UNIT_TEST(all_samples_freed)
{
	struct profile profile = {.meta.interval = INTERVAL};
	const struct profile_row row = {
		.key.interval = INTERVAL, .alloc_count = 2, .alloc_bytes = 200};
	const struct estimate bytes = estimate_of(&profile, &row, INUSE_SPACE),
			      objects = estimate_of(&profile, &row, INUSE_OBJECTS);
	double low, high;

	CHECK(bytes.value == 0);
	estimate_interval(&bytes, &low, &high);
	CHECK(low == 0);
	CHECK(fabs(high / UNSEEN_BYTES - 1) < 0.01);
	estimate_interval(&objects, &low, &high);
	CHECK(objects.value == 0 && low == 0);
	CHECK(fabs(high * 100 / UNSEEN_BYTES - 1) < 0.01);
}

static void check_coverage(const struct site *site, enum sample_type type)
{
	const double share = coverage(site, type);

	if (getenv("COVERAGE"))
		printf("%s %7" PRIu64 " %7" PRIu64 " %7" PRIu64
		       " B, %6.0f samples expected: %.3f\n",
		       type == INUSE_SPACE ? "bytes  " : "objects", site->size[0], site->size[1],
		       site->size[2], site->samples, share);
	/*
	 * Of few samples there are few different intervals: the share then jumps with the truth,
	 * around what it should be.
	 */
	CHECK(share >= (site->samples < 10 ? 0.88 : 0.92));
	/*
	 * Where the sizes make nearly every object a sample there is nothing to be wrong about, and
	 * chances come in few and large steps.
	 */
	if (site->samples >= 10 && site->size[0] < INTERVAL / 4 && !site->size[1])
		CHECK(share <= 0.99);
}

static void check_one_size(enum sample_type type)
{
	static const uint64_t sizes[] = {16, 256, 4096, 32768, 131072, 1u << 20, 4u << 20};
	static const double expected[] = {1, 3, 10, 100, 1000};

	random_state = 1;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (size_t k = 0; k < sizeof(expected) / sizeof(expected[0]); k++) {
			const struct site site = {.size = {sizes[i]}, .samples = expected[k]};

			check_coverage(&site, type);
		}
	}
}

UNIT_TEST(intervals_hold_the_truth_for_bytes_of_one_size)
{
	check_one_size(INUSE_SPACE);
}

UNIT_TEST(intervals_hold_the_truth_for_objects_of_one_size)
{
	check_one_size(INUSE_OBJECTS);
}

UNIT_TEST(intervals_hold_the_truth_for_mixed_sizes)
{
	static const struct site sites[] = {
		{{16, 4096}, 1},
		{{16, 4096}, 10},
		{{16, 4096}, 1000},
		{{64, 65536}, 3},
		{{64, 65536}, 100},
		{{16, 1u << 20}, 1},
		{{16, 1u << 20}, 10},
		{{1024, 131072}, 3},
		{{1024, 131072}, 1000},
		{{16, 65536, 4u << 20}, 1},
		{{16, 65536, 4u << 20}, 10},
		{{16, 65536, 4u << 20}, 300},
		{{256, 16384, 262144}, 3},
		{{256, 16384, 262144}, 100},
	};

	random_state = 2;
	for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++)
		check_coverage(&sites[i], INUSE_SPACE);
}

/* ---- the same by halving --------------------------------------------------------------------- */

static double gamma_below(double x, double mean, double variance)
{
	if (variance <= 0 || mean <= 0)
		return x >= mean;
	const double spread = variance / (9 * mean * mean);

	return 0.5 * erfc(-(cbrt(x / mean) - (1 - spread)) / sqrt(2 * spread));
}

static double halved(const struct estimate *estimate, double share)
{
	const double more = estimate->value + estimate->unit,
		     more_variance = estimate->variance + estimate->unit * estimate->unit;
	double low = 0, high = more + 20 * sqrt(more_variance);

	for (int i = 0; i < 100; i++) {
		const double x = (low + high) / 2,
			     seen = gamma_below(x, estimate->value, estimate->variance);

		if (seen + fmin(seen, gamma_below(x, more, more_variance)) < 2 * share)
			low = x;
		else
			high = x;
	}
	return high;
}

UNIT_TEST(ends_are_where_the_distribution_says)
{
	static const double parts[] = {0, 1e-12, 1e-3, 0.1, 0.5, 1, 2, 10, 1000};

	/* Of the value: how large the deviation is, and what one sample more is worth. */
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++) {
			const struct estimate estimate = {.value = 3e6,
							  .variance = 9e12 * parts[i] * parts[i],
							  .unit = 3e6 * parts[k]};
			const double slack =
				1e-7 * (estimate.value + estimate.unit + sqrt(estimate.variance));
			double low, high;

			if (parts[i] + parts[k] == 0)
				continue;
			estimate_interval(&estimate, &low, &high);
			CHECK(fabs(low - fmin(estimate.value, halved(&estimate, 0.025))) <= slack);
			CHECK(fabs(high - fmax(estimate.value, halved(&estimate, 0.975))) <= slack);
		}
	}
}

UNIT_TEST(all_types_at_once_are_the_same_as_one_by_one)
{
	static const struct profile_row rows[] = {
		{.key.interval = INTERVAL},
		{.key.interval = INTERVAL, .alloc_count = 3, .alloc_bytes = 3000},
		{.key.interval = INTERVAL,
		 .alloc_count = 3,
		 .alloc_bytes = 3000,
		 .inuse_count = 3,
		 .inuse_bytes = 3000,
		 .grain = 2 * INTERVAL},
		{.key.interval = INTERVAL,
		 .alloc_count = 3,
		 .alloc_bytes = 3000,
		 .inuse_count = 2,
		 .inuse_bytes = 2500,
		 .inuse_slack = 7},
		{.key = {.interval = INTERVAL, .side = PROFILE_BASE},
		 .inuse_count = 2,
		 .inuse_bytes = 2500},
		{.key.interval = 1, .alloc_count = 3, .inuse_count = 1},
	};
	const struct profile profile = {.meta.interval = INTERVAL};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct estimate all[SAMPLE_TYPE_COUNT];

		estimates_of(&profile, &rows[i], all);
		for (int type = 0; type < SAMPLE_TYPE_COUNT; type++) {
			const struct estimate one =
				estimate_of(&profile, &rows[i], (enum sample_type)type);

			CHECK(memcmp(&all[type], &one, sizeof(one)) == 0);
		}
	}
}

UNIT_MAIN()
