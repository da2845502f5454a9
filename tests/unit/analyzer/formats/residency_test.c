/* SPDX-License-Identifier: MIT */
/*
 * residency_test.c - resident and swapped bytes as estimates, in sums and differences, filtered,
 * and in a file of pprof and back.
 */
#include "residency.h"

#include <math.h>

#include "estimate.h"
#include "filter.h"
#include "merge.h"
#include "pprof.h"
#include "protobuf.h"
#include "read_file.h"
#include "sample_profile.h"

#define INTERVAL 4096u
#define SIZE 4096u
/* what each sampled block of this size stands for */
#define WEIGHT (1 / (1 - exp(-1)))

/* 20 blocks in use: 12 in memory, 3 swapped out, the rest never touched; half of each a thread's.
 */
static void make(struct profile *profile, uint64_t interval)
{
	uint32_t thread, part;

	*profile = sample_open();
	profile->meta.interval = interval;
	profile->meta.version = strdup("0.1.0");
	profile->meta.residency = PROFILE_RESIDENCY_KNOWN;
	sample_stack(profile, "main;a", 20, SIZE);
	sample_stack(profile, "main;b", 7, 3 * SIZE);
	profile->row[0].resident_bytes = 12ull * SIZE;
	profile->row[0].swapped_bytes = 3ull * SIZE;
	for (uint32_t i = 0; i < 2; i++) {
		CHECK_EQ(thread_breakdown_thread(&profile->breakdown, i ? "worker" : "io", 11 + i,
						 &thread),
			 0);
		CHECK_EQ(thread_breakdown_of(&profile->breakdown, 0, thread, &part), 0);
		profile->breakdown.part[part] =
			(struct part){.row = 0,
				      .thread = thread,
				      .alloc_count = 20,
				      .alloc_bytes = 20ull * SIZE,
				      .inuse_count = 10,
				      .inuse_bytes = 10ull * SIZE,
				      .resident_bytes = (i ? 9ull : 3) * SIZE,
				      .swapped_bytes = (i ? 1ull : 2) * SIZE};
	}
	CHECK_EQ(thread_breakdown_of(&profile->breakdown, 1, 0, &part), 0);
	profile->breakdown.part[part].alloc_count = 14;
	profile->breakdown.part[part].alloc_bytes = 14ull * 3 * SIZE;
	profile->breakdown.part[part].inuse_count = 7;
	profile->breakdown.part[part].inuse_bytes = 7ull * 3 * SIZE;
}

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-3 * fabs(b) + 1;
}

UNIT_TEST(scaled_as_what_is_in_use)
{
	struct profile profile;

	make(&profile, INTERVAL);
	CHECK(is_near(total_of(&profile, RESIDENT_SPACE), 12 * SIZE * WEIGHT));
	CHECK(is_near(total_of(&profile, SWAPPED_SPACE), 3 * SIZE * WEIGHT));
	CHECK(is_near(
		estimate_part(&profile, &profile.row[0], &profile.breakdown.part[1], RESIDENT_SPACE)
			.value,
		9 * SIZE * WEIGHT));
	/* blocks that are there as a whole or not at all, each with a variance of its own */
	CHECK(is_near(estimate_of(&profile, &profile.row[0], RESIDENT_SPACE).variance,
		      12 * pow(SIZE * WEIGHT, 2) * (1 - 1 / WEIGHT)));
	profile_close(&profile);
	make(&profile, 1);
	CHECK(total_of(&profile, RESIDENT_SPACE) == 12 * SIZE);
	CHECK(estimate_total(&profile, RESIDENT_SPACE).variance == 0);
	profile_close(&profile);
}

static int write_and_read(const struct profile *profile, struct profile *out_profile)
{
	char *bytes;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);

	CHECK(out && !pprof_write(profile, out) && !fclose(out));
	const int err = read_bytes(bytes, size, out_profile);
	free(bytes);
	return err;
}

UNIT_TEST(files_have_it_and_give_it_back)
{
	static const uint64_t intervals[] = {1, INTERVAL};

	for (size_t i = 0; i < 2; i++) {
		struct profile profile, copy;

		make(&profile, intervals[i]);
		CHECK_EQ(write_and_read(&profile, &copy), 0);
		CHECK(!copy.meta.damage);
		CHECK_EQ(copy.meta.residency, PROFILE_RESIDENCY_KNOWN);
		for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
			CHECK(is_near(total_of(&copy, (enum sample_type)type),
				      total_of(&profile, (enum sample_type)type)));
		CHECK_EQ(copy.row_count, 2);
		CHECK(is_near((double)copy.row[0].resident_bytes, 12 * SIZE));
		CHECK(is_near((double)copy.row[0].swapped_bytes, 3 * SIZE));
		CHECK(is_near((double)copy.breakdown.part[1].resident_bytes, 9 * SIZE));
		profile_close(&copy);
		profile_close(&profile);
	}
}

/* The sample types in words, as pprof -raw has them. */
static void check_types(const struct profile *profile, const char *types)
{
	struct protobuf message;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK_EQ(pprof_message(profile, &message), 0);
	CHECK_EQ(pprof_dump(&message, out), 0);
	CHECK_EQ(fclose(out), 0);
	if (!strstr(text, types))
		UNIT_FAIL("no %s in %s", types, text);
	free(text);
	protobuf_close(&message);
}

UNIT_TEST(the_other_types_keep_their_places)
{
	struct profile profile;

	make(&profile, 1);
	check_types(&profile, "\nalloc_objects/count alloc_space/bytes inuse_objects/count "
			      "inuse_space/bytes[dflt] resident_space/bytes swapped_space/bytes\n");
	profile.meta.default_type = RESIDENT_SPACE + 1;
	check_types(&profile,
		    " inuse_space/bytes resident_space/bytes[dflt] swapped_space/bytes\n");
	/* of what is not known nothing is said, be it asked for */
	profile.meta.residency = PROFILE_RESIDENCY_UNKNOWN;
	check_types(&profile, " inuse_objects/count inuse_space/bytes[dflt]\n");
	profile_close(&profile);
}

UNIT_TEST(why_it_is_not_known_comes_back)
{
	static const enum profile_residency reasons[] = {
		PROFILE_RESIDENCY_REFUSED, PROFILE_RESIDENCY_GONE, PROFILE_RESIDENCY_NO_MEMORY,
		PROFILE_RESIDENCY_TOO_FAR};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		struct profile profile, copy;

		make(&profile, INTERVAL);
		profile.meta.residency = reasons[i];
		CHECK_EQ(write_and_read(&profile, &copy), 0);
		CHECK_EQ(copy.meta.residency, reasons[i]);
		CHECK(total_of(&copy, RESIDENT_SPACE) == 0);
		CHECK_EQ(sample_type_count(&copy), SAMPLE_TYPES_ALWAYS);
		profile_close(&copy);
		profile_close(&profile);
	}
	CHECK(!residency_text(PROFILE_RESIDENCY_KNOWN));
	CHECK_EQ(residency_of("what is resident"), PROFILE_RESIDENCY_UNKNOWN);
}

UNIT_TEST(sums_and_differences)
{
	struct profile profile, more, base;

	make(&profile, INTERVAL);
	make(&more, INTERVAL);
	make(&base, INTERVAL);
	base.row[0].resident_bytes = 8ull * SIZE;
	CHECK_EQ(profile_merge(&profile, &more, PROFILE_NEW), 0);
	CHECK_EQ(profile.meta.residency, PROFILE_RESIDENCY_KNOWN);
	CHECK_EQ(profile.row[0].resident_bytes, 24ull * SIZE);
	CHECK_EQ(profile.breakdown.part[1].resident_bytes, 18ull * SIZE);
	CHECK_EQ(profile_merge(&profile, &base, PROFILE_BASE), 0);
	CHECK_EQ(profile.meta.residency, PROFILE_RESIDENCY_KNOWN);
	CHECK(is_near(total_of(&profile, RESIDENT_SPACE), 16 * SIZE * WEIGHT));
	CHECK(is_near(total_of(&profile, SWAPPED_SPACE), 3 * SIZE * WEIGHT));
	profile_close(&base);
	/* with one that does not know, nothing is known */
	more.meta.residency = PROFILE_RESIDENCY_UNKNOWN;
	CHECK_EQ(profile_merge(&profile, &more, PROFILE_NEW), 0);
	CHECK_EQ(profile.meta.residency, PROFILE_RESIDENCY_UNKNOWN);
	profile_close(&more);
	profile_close(&profile);
	make(&profile, INTERVAL);
	make(&more, INTERVAL);
	profile.meta.residency = PROFILE_RESIDENCY_GONE;
	CHECK_EQ(profile_merge(&profile, &more, PROFILE_BASE), 0);
	CHECK_EQ(profile.meta.residency, PROFILE_RESIDENCY_UNKNOWN);
	profile_close(&more);
	profile_close(&profile);
}

UNIT_TEST(a_filter_leaves_its_part)
{
	const struct filter_options of_worker = {.text[FILTER_TAGFOCUS] = "worker"},
				    of_a = {.text[FILTER_FOCUS] = "^a$"};
	struct profile profile, left;
	unsigned int unmatched;

	make(&profile, INTERVAL);
	CHECK_EQ(filter_profile(&profile, &of_worker, &left, &unmatched), 0);
	CHECK_EQ(left.meta.residency, PROFILE_RESIDENCY_KNOWN);
	CHECK_EQ(left.row[0].resident_bytes, 9ull * SIZE);
	CHECK_EQ(left.row[0].swapped_bytes, 1ull * SIZE);
	profile_close(&left);
	CHECK_EQ(filter_profile(&profile, &of_a, &left, &unmatched), 0);
	CHECK(is_near(total_of(&left, RESIDENT_SPACE), total_of(&profile, RESIDENT_SPACE)));
	profile_close(&left);
	profile_close(&profile);
}

UNIT_MAIN()
