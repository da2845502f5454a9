/* SPDX-License-Identifier: MIT */
/*
 * replay_damage_test.c - streams that are none, that are cut off, or that hold nonsense: what was
 * good counts, and the first that was not is named.
 */
#include <errno.h>

#include "replayed.h"

UNIT_TEST(not_a_stream)
{
	struct profile profile;
	FILE *file = memory_file();

	CHECK_EQ(replayed(file, &profile), -EBADMSG);
	CHECK_STR(profile.meta.damage, "empty");
	profile_close(&profile);

	file = memory_file();
	stream_free(file, 1);
	CHECK_EQ(replayed(file, &profile), -EBADMSG);
	CHECK_STR(profile.meta.damage, "not a heapinject record stream");
	profile_close(&profile);

	/* it could not be written to a file that can be read */
	CHECK_EQ(replayed(stream_begin(UINT64_MAX), &profile), -EBADMSG);
	CHECK_STR(profile.meta.damage, "an impossible sampling interval in the header");
	profile_close(&profile);
}

UNIT_TEST(bad_records_are_skipped_and_the_first_is_named)
{
	struct hi_stream_alloc liar = {.record = {.size = sizeof(liar), .type = HI_STREAM_ALLOC},
				       .address = 1,
				       .bytes = 1,
				       .frame_count = 100};
	struct profile profile;
	FILE *file = stream_begin(1);
	char expected[80];

	stream_alloc(file, 0x7000, 48, site_a, 2);
	snprintf(expected, sizeof(expected),
		 "damaged at byte %ld: a record does not hold what it announces", ftell(file));
	fwrite(&liar, 1, sizeof(liar), file);
	stream_alloc(file, 0, 1, site_a, 2);
	stream_alloc(file, 0x7000, UINT64_MAX, site_a, 2);
	stream_interval(file, 0);
	stream_interval(file, UINT64_MAX);
	stream_alloc(file, 0x7100, 48, site_a, 2);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_STR(profile.meta.damage, expected);
	CHECK_EQ(profile.row[0].inuse_bytes, 96);
	profile_close(&profile);
}

/* Kernels of other CPUs have addresses of 52 bits and more. */
UNIT_TEST(blocks_and_intervals_of_large_address_spaces_are_possible)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_interval(file, 1ull << 53);
	stream_alloc(file, 0x7000, 1ull << 51, site_a, 2);
	stream_interval(file, 1);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(!profile.meta.damage);
	CHECK_EQ(profile.row[0].inuse_bytes, 1ull << 51);
	profile_close(&profile);
}

UNIT_TEST(a_cut_stream_shows_what_was_good)
{
	struct profile profile;
	struct input input;
	FILE *file = stream_begin(1);

	stream_alloc(file, 0x7000, 48, site_a, 2);
	const size_t good = (size_t)ftell(file);
	stream_alloc(file, 0x7100, 48, site_a, 2);
	stream_end(file);
	CHECK_EQ(profile_open(&profile), 0);
	open_input_of(file, good + 20, &input);
	CHECK_EQ(replay_stream(&input, NULL, &profile), 0);
	CHECK_EQ(profile.row[0].inuse_bytes, 48);
	CHECK_EQ(profile.meta.end_reason, 0);
	CHECK(strstr(profile.meta.damage, "cut off in the record at byte") != NULL);
	input_close(&input);
	fclose(file);
	profile_close(&profile);

	file = stream_begin(1);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(strstr(profile.meta.damage, "the stream has no end record") != NULL);
	profile_close(&profile);
}

UNIT_TEST(of_a_cut_record_of_events_those_count_that_are_there)
{
	struct hi_stream_event event[3];
	struct profile profile;
	struct input input;
	FILE *file = stream_begin(1);

	for (uint64_t i = 0; i < 3; i++)
		event[i] = (struct hi_stream_event){.what = EVENT_AT(0x1000 * (i + 1), EVENT_ALLOC),
						    .bytes = 48,
						    .stack = 1,
						    .lived_ns = HI_STREAM_LIVES};
	stream_stack(file, 1, site_a, 2);
	stream_events(file, event, sizeof(event));
	const size_t whole = (size_t)ftell(file);
	for (size_t cut = 1; cut <= 2 * sizeof(event[0]); cut++) {
		open_input_of(file, whole - cut, &input); /* each time a little shorter */
		CHECK_EQ(profile_open(&profile), 0);
		CHECK_EQ(replay_stream(&input, NULL, &profile), 0);
		CHECK(strstr(profile.meta.damage, "cut off in the record at byte") != NULL);
		CHECK_EQ(profile.row[0].inuse_count, cut <= sizeof(event[0]) ? 2 : 1);
		input_close(&input);
		profile_close(&profile);
	}
	fclose(file);
}

/*
 * Any byte of a stream turned into any of a few others: no crash, whatever comes out. Sanitizers
 * look on in CI.
 */
UNIT_TEST(damage_anywhere_is_survived)
{
	static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
	FILE *file = stream_begin(4096);
	size_t size;

	stream_maps(file, "00400000-00401000 r-xp 00000000 00:00 0 /opt/server\n");
	stream_alloc(file, 0x7000, 48, site_a, 2);
	stream_interval(file, 512);
	stream_alloc(file, 0x7100, 48, site_b, 2);
	stream_stats(file);
	stream_free(file, 0x7000);
	stream_unfree(file, 0x7000);
	stream_stack(file, 1, site_a, 2);
	stream_events(file,
		      &(struct hi_stream_event){.what = EVENT_AT(0x7200, EVENT_ALLOC),
						.bytes = 48,
						.stack = 1,
						.lived_ns = 5},
		      sizeof(struct hi_stream_event));
	stream_end(file);
	char *bytes = text_of(file, &size);
	fclose(file);
	for (size_t at = 0; at < size; at++) {
		for (size_t i = 0; i < sizeof(values); i++) {
			struct profile profile;
			const char kept = bytes[at];

			bytes[at] = (char)values[i];
			file = memory_file();
			fwrite(bytes, 1, size, file);
			replayed(file, &profile);
			profile_close(&profile);
			bytes[at] = kept;
		}
	}
	free(bytes);
}

UNIT_MAIN()
