/* SPDX-License-Identifier: MIT */
/*
 * row_history_test.c - what a stream says of when samples came and went is what is read back from a
 * heap profile.
 */
#include "unit.h"

#include "heapfile.h"
#include "merge.h"
#include "replay.h"
#include "row_history.h"
#include "stream_file.h"
#include "stream_writer.h"

#define MS 1000000ull

static const uint64_t frames[] = {0x400100, 0x400200};

static void alloc_at(FILE *out, uint64_t ms, uint64_t address, uint64_t bytes)
{
	struct hi_stream_alloc alloc = {.record.type = HI_STREAM_ALLOC,
					.time_ns = ms * MS,
					.address = address,
					.bytes = bytes,
					.thread = 1,
					.frame_count = 2,
					.interval = 4096,
					.slack = HI_STREAM_SLACK_UNKNOWN};

	stream_put(out, &alloc, sizeof(alloc), frames, sizeof(frames));
}

static void free_at(FILE *out, uint32_t type, uint64_t ms, uint64_t address)
{
	struct hi_stream_free freed = {
		.record.type = (uint16_t)type, .time_ns = ms * MS, .address = address};

	stream_put(out, &freed, sizeof(freed), NULL, 0);
}

static void play(FILE *file, struct profile *profile)
{
	struct hi_stream_end end = {
		.record.type = HI_STREAM_END, .record.flags = 1, .time_ns = 8000 * MS};
	struct input input;

	stream_put(file, &end, sizeof(end), NULL, 0);
	CHECK_EQ(profile_open(profile), 0);
	open_input_of(file, SIZE_MAX >> 1, &input);
	CHECK_EQ(replay_stream(&input, NULL, profile), 0);
	CHECK(!profile->meta.damage);
	input_close(&input);
	fclose(file);
}

static FILE *begin(void)
{
	FILE *file = memory_file();

	stream_header(file, 4096);
	stream_module(file, 1, 0x400000, 0x500000, "/bin/server");
	return file;
}

static void save_and_read(const struct profile *profile, struct profile *out_read)
{
	FILE *file = memory_file();
	struct input input;

	heapfile_write(profile, file);
	CHECK_EQ(profile_open(out_read), 0);
	open_input_of(file, SIZE_MAX >> 1, &input);
	CHECK_EQ(heapfile_read(&input, out_read), 0);
	CHECK(!out_read->meta.damage);
	input_close(&input);
	fclose(file);
}

static uint64_t sum(const uint32_t *slices)
{
	uint64_t all = 0;

	for (size_t i = 0; i < HISTORY_SLICES; i++)
		all += slices[i];
	return all;
}

static void check_same(const struct profile *profile, const struct profile *other)
{
	struct history a, b;

	CHECK_EQ(profile->row_count, other->row_count);
	for (size_t i = 0; i < profile->row_count; i++) {
		CHECK(row_history_get(profile, &profile->row[i], &a));
		CHECK(row_history_get(other, &other->row[i], &b));
		history_widen(&a, 40);
		history_widen(&b, 40);
		CHECK(memcmp(&a, &b, sizeof(a)) == 0);
	}
}

UNIT_TEST(each_sample_is_in_the_slice_of_its_time)
{
	struct profile profile, read;
	struct history history;
	FILE *file = begin();

	for (uint64_t i = 0; i < 800; i++) {
		alloc_at(file, 10 * i, 0x10000 + i * 64, 48);
		if (i % 2)
			free_at(file, HI_STREAM_FREE, 10 * i + 5, 0x10000 + i * 64);
	}
	play(file, &profile);
	CHECK_EQ(profile.row_count, 1);
	CHECK(row_history_get(&profile, &profile.row[0], &history));
	CHECK_EQ(sum(history.alloc), 800);
	CHECK_EQ(sum(history.live), 400);
	CHECK_EQ(sum(history.gone), 400);
	CHECK_EQ(history.shift, 28); /* 8 s in slices of 268 ms */
	CHECK_EQ(history.alloc[0], 27);
	CHECK_EQ(history.live[29], 800 / 2 - (29 * 268435456ull / (10 * MS) + 2) / 2);
	save_and_read(&profile, &read);
	check_same(&profile, &read);
	profile_close(&read);
	profile_close(&profile);
}

/*
 * Frees that are missed, that are taken back, and that come for a block which is the only one of
 * its row.
 */
UNIT_TEST(whatever_happens_counts_agree)
{
	struct profile profile, read;
	struct history history;
	FILE *file = begin();

	alloc_at(file, 1, 0x1000, 48);
	free_at(file, HI_STREAM_FREE, 3000, 0x1000);
	/* the first one of the row is gone before the second comes */
	alloc_at(file, 3100, 0x2000, 48);
	alloc_at(file, 3200, 0x2000, 48); /* a free was missed */
	free_at(file, HI_STREAM_FREE, 4000, 0x2000);
	free_at(file, HI_STREAM_UNFREE, 4001, 0x2000);
	alloc_at(file, 10, 0x9000, 5000); /* alone in its row, and alive */
	alloc_at(file, 20, 0xa000, 9000); /* alone in its row, and not */
	free_at(file, HI_STREAM_FREE, 7000, 0xa000);
	play(file, &profile);
	CHECK_EQ(profile.row_count, 3);
	CHECK(row_history_get(&profile, &profile.row[0], &history));
	CHECK_EQ(sum(history.alloc), 3);
	CHECK_EQ(sum(history.live), 1);
	CHECK_EQ(sum(history.gone), 2);
	CHECK_EQ(history.gone[3000 * MS >> history.shift], 1);
	CHECK_EQ(history.live[3200 * MS >> history.shift], 1);
	CHECK(row_history_get(&profile, &profile.row[2], &history));
	CHECK_EQ(history.alloc[0], 1);
	CHECK_EQ(history.gone[7000 * MS >> history.shift], 1);
	CHECK_EQ(profile.histories.count, 1);
	save_and_read(&profile, &read);
	check_same(&profile, &read);
	CHECK_EQ(read.histories.count, 1);
	profile_close(&read);
	profile_close(&profile);
}

/* 400 samples from 100 ms on, one every so often. */
static void make(struct profile *profile, uint64_t every_ms)
{
	FILE *file = begin();

	for (uint64_t i = 0; i < 400; i++)
		alloc_at(file, 100 + every_ms * i, 0x10000 + i * 64, 48);
	play(file, profile);
}

UNIT_TEST(what_is_merged_has_both_histories)
{
	struct profile all, one, other;
	struct history history;

	CHECK_EQ(profile_open(&all), 0);
	make(&one, 1);
	make(&other, 19);
	CHECK_EQ(profile_merge(&all, &one, PROFILE_NEW), 0);
	CHECK_EQ(profile_merge(&all, &other, PROFILE_NEW), 0);
	CHECK_EQ(all.row_count, 1);
	CHECK(row_history_get(&all, &all.row[0], &history));
	CHECK_EQ(sum(history.live), 800);
	CHECK_EQ(history.shift, 28);
	/* The first slices have nearly all of the one, and few of the other. */
	CHECK_EQ(history.alloc[0], 169 + 9);
	CHECK_EQ(history.alloc[1], 231 + 14);
	CHECK_EQ(history.alloc[2], 15);
	profile_close(&all);
	profile_close(&one);
	profile_close(&other);
}

static int read_text(const char *text, struct profile *profile)
{
	FILE *file = memory_file();
	struct input input;
	int err;

	fputs(text, file);
	CHECK_EQ(profile_open(profile), 0);
	open_input_of(file, SIZE_MAX >> 1, &input);
	err = heapfile_read(&input, profile);
	input_close(&input);
	fclose(file);
	return err;
}

/* A row of two samples, of which one lives, with this at the end of its comment. */
static bool is_understood(const char *history_text, bool *out_damaged)
{
	struct profile profile;
	struct history history;
	char text[1024];
	bool is_known;

	snprintf(text, sizeof(text),
		 "heap profile:      1:       48 [     2:       96] @ heap_v2/4096\n# heapinject "
		 "0.1.0\n"
		 "# row 4096 1:48 2:96 0:0 1:9000 4000%s\n     1:       48 [     2:       96] @ "
		 "0x400100\n\nMAPPED_LIBRARIES:\n# end\n",
		 history_text);
	CHECK_EQ(read_text(text, &profile), 0);
	*out_damaged = profile.meta.damage != NULL;
	is_known = profile.row_count == 1 && row_history_get(&profile, &profile.row[0], &history);
	profile_close(&profile);
	return is_known;
}

UNIT_TEST(histories_that_cannot_be_are_not_believed)
{
	static const char *const wrong[] = {" 19 0:2:1:1", " 60 0:2:1:1",  " 27 32:2:1:1",
					    " 27 0:2:3:1", " 27 0:2:1",    " 27 0:2:1:1,x",
					    " 27",         " 27 0:2:1:1 ", " 27 0:4294967296:1:1"};
	bool is_damaged;

	CHECK(is_understood(" 27 0:1:0:0,31:1:1:1", &is_damaged) && !is_damaged);
	CHECK(!is_understood("", &is_damaged) && !is_damaged);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK(!is_understood(wrong[i], &is_damaged) && is_damaged);
	/* They say something else than the row. */
	CHECK(!is_understood(" 27 0:3:1:2", &is_damaged) && !is_damaged);
	CHECK(!is_understood(" 27 0:2:2:0", &is_damaged) && !is_damaged);
}

UNIT_MAIN()
