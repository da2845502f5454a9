/* SPDX-License-Identifier: MIT */
/* replay_thinned_test.c - what a stream says of places where allocations were thinned. */
#include "replayed.h"

#define INTERVAL 64u

/* Two stacks; 48 and 100 bytes of the first, 48 of the second. */
static FILE *begin(void)
{
	FILE *file = stream_begin(INTERVAL);

	stream_stack(file, 1, site_a, 2);
	stream_stack(file, 2, site_b, 2);
	stream_alloc_on(file, 0x7000, 48, 1);
	stream_alloc_on(file, 0x8000, 100, 1);
	stream_alloc_on(file, 0x9000, 48, 2);
	return file;
}

/* The grain of the row of this stack (its leaf) and size. */
static uint64_t grain(const struct profile *profile, uint64_t leaf, uint64_t bytes)
{
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct profile_row *row = &profile->row[i];

		if (row->alloc_bytes == bytes * row->alloc_count &&
		    profile->frame[profile->stack[row->key.stack].frame[0]].address == leaf)
			return row->grain;
	}
	UNIT_FAIL("no row of %u bytes", (unsigned)bytes);
}

UNIT_TEST(rows_of_a_place_have_its_grain)
{
	const struct hi_stream_thinned_place places[] = {
		{.stack = 1, .size_bits = 6, .grain = 1000},
		{.stack = 1, .size_bits = 6, .grain = 5000},
		{.stack = 1, .size_bits = 6, .grain = 3000},
		{.stack = 2, .size_bits = 7, .grain = 9000}};
	struct profile profile;
	FILE *file = begin();

	stream_thinned(file, places, 4);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(!profile.meta.damage);
	CHECK_EQ(grain(&profile, site_a[0], 48), 5000);
	CHECK_EQ(grain(&profile, site_a[0], 100), 0);
	CHECK_EQ(grain(&profile, site_b[0], 48), 0);
	profile_close(&profile);
}

/* The later record holds: it says all that the earlier one said. */
UNIT_TEST(the_last_one_holds)
{
	struct hi_stream_thinned_place place = {.stack = 1, .size_bits = 7, .grain = 1000};
	struct profile profile;
	FILE *file = begin();

	stream_thinned(file, &place, 1);
	stream_dump(file, 4000);
	place.grain = 2000;
	stream_thinned(file, &place, 1);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(grain(&profile, site_a[0], 100), 2000);
	profile_close(&profile);
}

/* Every figure allows for the intervals of the session; a sample for its own. */
UNIT_TEST(what_is_allowed_for_anyway_is_not_noted)
{
	const struct hi_stream_thinned_place places[] = {
		{.stack = 1, .size_bits = 6, .grain = 4096},
		{.stack = 1, .size_bits = 7, .grain = 4097}};
	const struct hi_stream_thinned_place no_more = {
		.stack = 2, .size_bits = 6, .grain = INTERVAL};
	struct profile profile;
	FILE *file = begin();

	stream_thinned(file, &no_more, 1);
	stream_interval(file, 4096);
	stream_interval(file, INTERVAL);
	stream_thinned(file, places, 2);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(grain(&profile, site_a[0], 48), 0);
	CHECK_EQ(grain(&profile, site_a[0], 100), 4097);
	CHECK_EQ(grain(&profile, site_b[0], 48), 0);
	profile_close(&profile);
}

UNIT_TEST(places_that_cannot_be_are_noticed)
{
	const struct hi_stream_thinned_place bad[] = {
		{.stack = 0, .size_bits = 6, .grain = 5000},
		{.stack = 3, .size_bits = 6, .grain = 5000},
		{.stack = 1, .size_bits = 6, .grain = UINT64_MAX}};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct profile profile;
		FILE *file = begin();

		stream_thinned(file, &bad[i], 1);
		stream_end(file);
		CHECK_EQ(replayed(file, &profile), 0);
		CHECK(profile.meta.damage && strstr(profile.meta.damage, "thinned"));
		CHECK_EQ(grain(&profile, site_a[0], 48), 0);
		profile_close(&profile);
	}
}

UNIT_MAIN()
