/* SPDX-License-Identifier: MIT */
/*
 * replay_test.c - streams become the profile that they describe, whatever is missing or wrong in
 * them.
 */
#include "unit.h"

#include <errno.h>
#include <math.h>

#include "estimate.h"
#include "replay.h"
#include "stream_file.h"
#include "stream_writer.h"

#define LO 0x400000u
static const uint64_t site_a[] = {LO + 0x100, LO + 0x200};
static const uint64_t site_b[] = {LO + 0x300, LO + 0x200};

static FILE *begin(uint64_t interval)
{
	FILE *file = memory_file();

	stream_header(file, interval);
	stream_module(file, 1, LO, LO + 0x1000, "/opt/server");
	return file;
}

/* Closes the file. */
static int play(FILE *file, struct profile *profile)
{
	struct input input;
	int err;

	CHECK_EQ(profile_open(profile), 0);
	open_input_of(file, SIZE_MAX >> 1, &input);
	err = replay_stream(&input, NULL, profile);
	input_close(&input);
	fclose(file);
	return err;
}

UNIT_TEST(metadata)
{
	struct profile profile;
	FILE *file = begin(4096);

	stream_stats(file);
	stream_maps(file, "old\n");
	stream_maps(file, "new\n");
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK_EQ(profile.meta.pid, 1234);
	CHECK_STR(profile.meta.comm, "server");
	CHECK_STR(profile.meta.cmdline, "/opt/server --port 7");
	CHECK_STR(profile.meta.exe, "/opt/server");
	CHECK_STR(profile.meta.host, "box");
	CHECK_STR(profile.meta.version, "0.1.0");
	CHECK_STR(profile.meta.maps, "new\n");
	CHECK_EQ(profile.meta.interval, 4096);
	CHECK_EQ(profile.meta.duration_ns, 5000);
	CHECK_EQ(profile.meta.dropped_allocs, 3);
	CHECK_EQ(profile.meta.end_reason, HI_STREAM_END_DURATION);
	CHECK(profile.meta.damage == NULL);
	CHECK_EQ(profile.module_count, 1);
	CHECK_STR(profile.module[0].path, "/opt/server");
	CHECK_EQ(profile.module[0].build_id_size, 4);
	profile_close(&profile);
}

UNIT_TEST(allocations_and_frees)
{
	struct profile profile;
	FILE *file = begin(1);

	stream_alloc(file, 0x7000, 48, site_a, 2);
	stream_alloc(file, 0x7100, 48, site_a, 2);
	stream_alloc(file, 0x7200, 64, site_a, 2);
	stream_alloc(file, 0x7300, 48, site_b, 2);
	stream_free(file, 0x7100);
	stream_free(file, 0x9999); /* its allocation was not sampled */
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK_EQ(profile.row_count, 3);
	CHECK_EQ(profile.stack_count, 2);
	CHECK_EQ(profile.row[0].alloc_count, 2);
	CHECK_EQ(profile.row[0].alloc_bytes, 96);
	CHECK_EQ(profile.row[0].inuse_count, 1);
	CHECK_EQ(profile.row[0].inuse_bytes, 48);
	CHECK_EQ(profile.row[1].inuse_bytes, 64);
	CHECK_EQ(profile.meta.samples, 4);
	CHECK_EQ(profile.meta.frees, 1);
	CHECK_EQ(profile.meta.stacks_complete, 4);
	CHECK(estimate_total(&profile, INUSE_SPACE).value == 48 + 64 + 48);
	profile_close(&profile);
}

UNIT_TEST(what_the_process_has)
{
	struct profile profile;
	FILE *file = begin(1);

	stream_memory(file, 100, 1000);
	stream_memory(file, 300, 2000);
	stream_memory(file, 200, 3000);
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK_EQ(profile.meta.memory.anonymous_begin, 100);
	CHECK_EQ(profile.meta.memory.anonymous_end, 200);
	CHECK_EQ(profile.meta.memory.writable_end, 3000);
	CHECK_EQ(profile.meta.memory.spread, 0);
	CHECK(!profile.meta.caveat[HI_CAVEAT_OTHER_MEANS]);
	profile_close(&profile);
}

UNIT_TEST(allocators_that_are_not_hooked)
{
	struct profile profile;
	FILE *file = begin(1);

	stream_unhooked(file, HI_UNHOOKED_PREFIXED, "je_malloc", "");
	stream_unhooked(file, HI_UNHOOKED_DIRECT, "malloc", "/lib/a\tb.so");
	for (int i = 0; i < 1000; i++) /* as many as somebody likes */
		stream_unhooked(file, HI_UNHOOKED_DIRECT, "malloc", "/lib/c.so");
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK_STR(profile.meta.unhooked,
		  "je_malloc in the program itself and malloc in /lib/a?b.so (by direct calls) and "
		  "malloc in /lib/c.so (by direct calls) and "
		  "malloc in /lib/c.so (by direct calls)");
	CHECK(profile.meta.caveat[HI_CAVEAT_UNHOOKED] != NULL);
	CHECK(!strncmp(profile.meta.caveat[HI_CAVEAT_UNHOOKED],
		       "its allocations go to je_malloc in the program itself and ", 57));
	CHECK(!profile.meta.damage);
	profile_close(&profile);
}

/* Each block counts once, and of a large one all that it covers. */
UNIT_TEST(where_the_live_samples_lie)
{
	const uint64_t piece = 64u << 10;
	struct profile profile;
	FILE *file = begin(1);

	stream_alloc(file, piece, 16, site_a, 2);
	stream_alloc(file, 2 * piece - 16, 16, site_a, 2);
	stream_alloc(file, 100 * piece, 16, site_a, 2);
	stream_free(file, 100 * piece);
	stream_alloc(file, 200 * piece + 1, 3 * piece, site_b, 2);
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK_EQ(profile.meta.memory.spread, 5 * piece); /* the first two share one */
	profile_close(&profile);
}

UNIT_TEST(a_missed_free_is_implied)
{
	struct profile profile;
	FILE *file = begin(1);

	stream_alloc(file, 0x7000, 48, site_a, 2);
	stream_alloc(file, 0x7000, 64, site_b, 2);
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK_EQ(profile.row[0].inuse_count, 0);
	CHECK_EQ(profile.row[0].inuse_bytes, 0);
	CHECK_EQ(profile.row[1].inuse_bytes, 64);
	CHECK_EQ(profile.meta.missed_frees, 1);
	CHECK_EQ(profile.meta.frees, 0);
	profile_close(&profile);
}

UNIT_TEST(a_failed_realloc_gives_the_block_back)
{
	struct profile profile;
	FILE *file = begin(1);

	stream_alloc(file, 0x7000, 48, site_a, 2);
	stream_alloc(file, 0x7100, 32, site_b, 2);
	stream_free(file, 0x7000);
	stream_free(file, 0x7100);
	stream_unfree(file, 0x7000);
	stream_unfree(file, 0x7000); /* once only */
	stream_unfree(file, 0x8888);
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK_EQ(profile.row[0].inuse_count, 1);
	CHECK_EQ(profile.row[0].inuse_bytes, 48);
	CHECK_EQ(profile.row[1].inuse_count, 0);
	CHECK_EQ(profile.meta.frees, 1);
	CHECK_EQ(profile.row[0].alloc_count, 1);
	profile_close(&profile);
}

UNIT_TEST(no_block_comes_back_to_where_another_lives)
{
	struct profile profile;
	FILE *file = begin(1);

	stream_alloc(file, 0x7000, 48, site_a, 2);
	stream_alloc(file, 0x7000, 32, site_b, 2);
	stream_unfree(file, 0x7000);
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK_EQ(profile.row[0].inuse_count, 0);
	CHECK_EQ(profile.row[1].inuse_count, 1);
	CHECK_EQ(profile.meta.frees, 0);
	profile_close(&profile);
}

/* Many blocks in few places: the table grows, and closes its holes. */
UNIT_TEST(live_blocks_survive_a_shuffle)
{
	enum { BLOCKS = 5000, ROUNDS = 40000 };
	static bool live[BLOCKS];
	struct profile profile;
	FILE *file = begin(1);
	uint64_t state = 1, expected = 0;

	for (int i = 0; i < ROUNDS; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		const size_t at = (state >> 33) % BLOCKS;

		if (live[at])
			stream_free(file, 0x10000 + 16 * at);
		else
			stream_alloc(file, 0x10000 + 16 * at, at + 1, site_a, 2);
		live[at] = !live[at];
	}
	for (size_t at = 0; at < BLOCKS; at++)
		expected += live[at] ? at + 1 : 0;
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK_EQ((uint64_t)estimate_total(&profile, INUSE_SPACE).value, expected);
	profile_close(&profile);
}

UNIT_TEST(modules_count_at_the_time_of_the_event)
{
	struct profile profile;
	FILE *file = begin(1);
	const uint64_t at_end[] = {LO + 0x1000}, before[] = {LO}, behind[] = {LO + 0x1001},
		       plugin[] = {0x500010};

	stream_alloc(file, 0x7000, 1, at_end, 1);
	stream_alloc(file, 0x7001, 2, before, 1);
	stream_alloc(file, 0x7006, 7, behind, 1);
	stream_module(file, 2, 0x500000, 0x501000, "/lib/first.so");
	stream_alloc(file, 0x7002, 3, plugin, 1);
	stream_module_gone(file, 2);
	stream_alloc(file, 0x7003, 4, plugin, 1);
	stream_module(file, 3, 0x4ff000, 0x502000, "/lib/second.so");
	stream_alloc(file, 0x7004, 5, plugin, 1);
	/* the other's departure was missed */
	stream_module(file, 4, 0x500000, 0x500800, "/lib/third.so");
	stream_alloc(file, 0x7005, 6, plugin, 1);
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);

	static const int32_t expected[] = {0, -1, -1, 1, -1, 2, 3};
	CHECK_EQ(profile.row_count, 7);
	for (size_t i = 0; i < 7; i++)
		CHECK_EQ(profile.frame[profile.stack[profile.row[i].key.stack].frame[0]].module,
			 expected[i]);
	profile_close(&profile);
}

UNIT_TEST(no_frames_is_a_frame_of_its_own)
{
	struct profile profile;
	FILE *file = begin(1);

	stream_alloc(file, 0x7000, 48, NULL, 0);
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK_EQ(profile.stack[0].frame_count, 1);
	profile_close(&profile);
}

/*
 * What a sample stands for follows from the interval with which it was drawn, whatever the records
 * around it say of others.
 */
UNIT_TEST(each_sample_is_weighed_by_its_own_interval)
{
	struct profile profile;
	FILE *file = begin(4096);

	for (uint64_t i = 0; i < 100; i++)
		stream_alloc(file, 0x7000 + i, 100, site_a, 2);
	stream_interval(file, 16384);
	for (uint64_t i = 100; i < 500; i++) {
		stream_drawn = i < 150 ? 4096 : 16384; /* drawn before, run out later */
		stream_alloc(file, 0x7000 + i, 100, site_a, 2);
	}
	for (uint64_t i = 300; i < 500; i++)
		stream_free(file, 0x7000 + i);
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);

	const double fine = estimate_row(150, 15000, 4096, ALLOC_OBJECTS).value,
		     coarse = estimate_row(350, 35000, 16384, ALLOC_OBJECTS).value;
	CHECK(fabs(estimate_total(&profile, ALLOC_OBJECTS).value - fine - coarse) < 1e-6);
	CHECK(fabs(estimate_total(&profile, INUSE_OBJECTS).value - fine - coarse * 150 / 350) <
	      1e-6);
	CHECK(fabs(estimate_total(&profile, ALLOC_OBJECTS).variance -
		   estimate_row(150, 15000, 4096, ALLOC_OBJECTS).variance -
		   estimate_row(350, 35000, 16384, ALLOC_OBJECTS).variance) < 1e-3);
	CHECK_EQ(profile.meta.samples, 500);
	CHECK_EQ(profile.meta.change_count, 1);
	CHECK_EQ(profile.meta.change[0].interval, 16384);
	profile_close(&profile);
}

/* Allocated at 1000 ns, freed at 2000, the end at 5000. */
UNIT_TEST(ages_and_waste_follow_the_blocks)
{
	struct profile profile;
	FILE *file = begin(1);

	stream_alloc(file, 0x7000, 48, site_a, 2);
	stream_alloc(file, 0x7100, 48, site_a, 2);
	stream_alloc(file, 0x7200, 48, site_a, 2);
	stream_free(file, 0x7100);
	stream_free(file, 0x7200);
	stream_unfree(file, 0x7200);
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);

	const struct estimate inuse = estimate_total(&profile, INUSE_SPACE),
			      allocated = estimate_total(&profile, ALLOC_SPACE);
	CHECK(inuse.slack == 16 && allocated.slack == 24);
	CHECK(inuse.live == 2 && inuse.age_ns == 2 * 4000);
	CHECK(inuse.freed == 1 && inuse.lifetime_ns == 1000);
	CHECK_EQ(profile.meta.slack_samples, 3);
	profile_close(&profile);
}

/* The same frames may be all there is, or all that could be seen. */
UNIT_TEST(each_stack_is_counted_by_how_it_ended_itself)
{
	static const uint16_t end[] = {HI_END_COMPLETE, HI_END_REGION, HI_END_COMPLETE,
				       HI_END_DEPTH,    HI_END_REGION, 200};
	const uint64_t site[] = {1000, 2000};
	struct profile profile;
	FILE *file = begin(1);

	for (size_t i = 0; i < sizeof(end) / sizeof(end[0]); i++)
		stream_alloc_ended(file, 16 + 16 * i, end[i], site, 2, 8);
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK_EQ(profile.meta.stacks_complete, 2);
	CHECK_EQ(profile.meta.stacks_truncated, 4);
	CHECK_EQ(profile.meta.stack_ends[HI_END_REGION], 2);
	CHECK_EQ(profile.meta.stack_ends[HI_END_DEPTH], 1);
	CHECK_EQ(profile.meta.stack_ends[HI_END_NO_ROW], 0);
	profile_close(&profile);
}

/* A ring that a target writes to can bring any number of them. */
UNIT_SLOW_TEST(stacks_without_end_are_counted_but_not_told_apart)
{
	enum { SAMPLES = 600000, KEPT = 1 << 19 };
	struct profile profile;
	FILE *file = begin(1);

	for (uint64_t i = 0; i < SAMPLES; i++) {
		const uint64_t site[] = {1000 + i % 1000, 5000 + i / 1000};

		stream_alloc(file, 16 + 16 * i, 8, site, 2);
	}
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK_EQ(profile.meta.samples, SAMPLES);
	CHECK_EQ(profile.stack_count, KEPT + 1);
	CHECK_EQ(profile.row[KEPT].inuse_count, SAMPLES - KEPT);
	CHECK(strstr(profile.meta.damage, "too long: from byte"));
	profile_close(&profile);
}

UNIT_TEST(a_stack_told_by_number_is_the_stack_that_a_record_carries)
{
	struct profile profile;
	FILE *file = begin(1);

	stream_stack(file, 1, site_a, 2);
	stream_stack(file, 2, site_b, 2);
	stream_alloc(file, 0x1000, 48, site_a, 2);
	stream_alloc_on(file, 0x2000, 48, 1);
	stream_alloc_on(file, 0x3000, 48, 2);
	stream_alloc_on(file, 0x4000, 48, 1);
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK(!profile.meta.damage);
	CHECK_EQ(profile.stack_count, 2);
	CHECK_EQ(profile.row_count, 2);
	CHECK_EQ(profile.row[0].inuse_count, 3);
	CHECK_EQ(profile.row[1].inuse_count, 1);
	profile_close(&profile);
}

/*
 * What the addresses mean is decided when the stack is used: meanwhile another library may lie
 * there.
 */
UNIT_TEST(a_told_stack_belongs_to_the_modules_of_the_moment)
{
	struct profile profile;
	FILE *file = begin(1);

	stream_stack(file, 1, site_a, 2);
	stream_alloc_on(file, 0x1000, 48, 1);
	stream_module_gone(file, 1);
	stream_alloc_on(file, 0x2000, 48, 1);
	stream_module(file, 2, LO, LO + 0x1000, "/opt/plugin.so");
	stream_alloc_on(file, 0x3000, 48, 1);
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK_EQ(profile.stack_count, 3);
	CHECK_EQ(profile.frame[profile.stack[0].frame[0]].module, 0);
	CHECK_EQ(profile.frame[profile.stack[1].frame[0]].module, -1);
	CHECK_EQ(profile.frame[profile.stack[2].frame[0]].module, 1);
	profile_close(&profile);
}

UNIT_TEST(a_stack_that_was_not_told_is_one_unknown_frame)
{
	struct profile profile;
	FILE *file = begin(1);

	stream_stack(file, 2, site_a, 2); /* out of turn */
	stream_alloc_on(file, 0x1000, 48, 2);
	stream_alloc_on(file, 0x2000, 48, UINT32_MAX);
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK(strstr(profile.meta.damage, "a stack out of turn"));
	CHECK_EQ(profile.stack_count, 1);
	CHECK_EQ(profile.stack[0].frame_count, 1);
	CHECK_EQ(profile.frame[profile.stack[0].frame[0]].module, -1);
	CHECK_EQ(profile.row[0].inuse_count, 2);
	CHECK_EQ(profile.meta.stacks_truncated, 2);
	profile_close(&profile);
}

static const struct part *part_of(const struct profile *profile, const char *name)
{
	const struct part *found = NULL;

	for (size_t i = 0; i < profile->breakdown.count; i++) {
		const char *of = profile->breakdown.thread[profile->breakdown.part[i].thread].name;

		if (of && strcmp(of, name) == 0) {
			CHECK(!found);
			found = &profile->breakdown.part[i];
		}
	}
	CHECK(found != NULL);
	return found;
}

#define AT(address, kind) ((uint64_t)(address) | (uint64_t)(kind) << HI_STREAM_EVENT_ADDRESS_BITS)
#define AN_ALLOC (HI_FN_MALLOC + 1)
#define FREE_BYTES HI_STREAM_EVENT_FREE_BYTES

/* But for what lies between the members, which may be anything. */
static void check_same_row(const struct profile_row *one, const struct profile_row *other)
{
	const size_t figures = offsetof(struct profile_row, alloc_count);

	CHECK_EQ(memcmp(&one->key, &other->key, offsetof(struct profile_row_key, side)), 0);
	CHECK_EQ(one->key.side, other->key.side);
	CHECK_EQ(memcmp((const char *)one + figures, (const char *)other + figures,
			offsetof(struct profile_row, history) - figures),
		 0);
	CHECK_EQ(one->history, other->history);
}

/* The same with a record for each, and all in one; how is not to be seen in the profile. */
UNIT_TEST(events_are_what_their_records_would_be)
{
	const struct hi_stream_event alloc = {
		.thread = 1, .bytes = 48, .stack = 1, .slack = 8, .lived_ns = HI_STREAM_LIVES};
	struct hi_stream_event kept = alloc, freed = alloc, passed = alloc;
	const struct hi_stream_event a_free = {.what = 0x2000, .after_ns = 1000};
	struct profile one, other;

	kept.what = AT(0x1000, AN_ALLOC);
	freed.what = AT(0x2000, AN_ALLOC);
	passed.what = AT(0x3000, AN_ALLOC);
	passed.lived_ns = 1000;
	for (int in_one = 0; in_one <= 1; in_one++) {
		FILE *file = begin(1);

		stream_stack(file, 1, site_a, 2);
		/* the second one finds all kinds known, and frees that were missed */
		for (int round = 0; round < 3; round++) {
			if (in_one) {
				struct hi_stream_event all[4] = {kept, freed, passed, a_free};

				stream_events(file, all, 3 * sizeof(*all) + FREE_BYTES);
			} else {
				stream_alloc_on(file, 0x1000, 48, 1);
				stream_alloc_on(file, 0x2000, 48, 1);
				stream_alloc_on(file, 0x3000, 48, 1);
				stream_free(file, 0x3000);
				stream_free(file, 0x2000);
			}
			/* the second: is a missed free in the next round */
			stream_unfree(file, round ? 0x2000 : 0x3000);
		}
		stream_end(file);
		CHECK_EQ(play(file, in_one ? &one : &other), 0);
	}
	CHECK(!one.meta.damage);
	CHECK_EQ(one.row_count, 1);
	check_same_row(&one.row[0], &other.row[0]);
	CHECK_EQ(memcmp(&one.breakdown.part[0], &other.breakdown.part[0], sizeof(struct part)), 0);
	CHECK_EQ(one.meta.samples, 9);
	CHECK_EQ(one.meta.frees, other.meta.frees);
	CHECK_EQ(one.meta.slack_samples, 9);
	CHECK_EQ(one.meta.stacks_complete, other.meta.stacks_complete);
	CHECK_EQ(one.meta.duration_ns, other.meta.duration_ns);
	profile_close(&one);
	profile_close(&other);
}

/* What is known of a kind of allocation does not outlive what it was known by. */
UNIT_TEST(events_belong_to_the_modules_the_thread_and_the_interval_of_the_moment)
{
	const struct hi_stream_event alloc = {
		.what = AT(0x1000, AN_ALLOC), .thread = 1, .bytes = 48, .stack = 1, .lived_ns = 1};
	struct hi_stream_event others = alloc;
	struct profile profile;
	FILE *file = begin(1);

	others.thread = 2;
	stream_stack(file, 1, site_a, 2);
	stream_thread(file, 1, 101, "one");
	stream_events(file, &alloc, sizeof(alloc));
	stream_events(file, &others, sizeof(others)); /* of nobody */
	stream_thread(file, 2, 102, "two");
	stream_events(file, &others, sizeof(others));
	stream_drawn = 512;
	stream_events(file, &alloc, sizeof(alloc));
	stream_module_gone(file, 1);
	stream_events(file, &alloc, sizeof(alloc));
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK(!profile.meta.damage);
	CHECK_EQ(profile.row_count, 3);
	CHECK_EQ(profile.row[0].alloc_count, 3);
	CHECK_EQ(profile.row[0].freed_count, 3);
	CHECK_EQ(profile.row[1].key.interval, 512);
	CHECK_EQ(profile.row[2].key.interval, 512);
	CHECK_EQ(profile.frame[profile.stack[profile.row[2].key.stack].frame[0]].module, -1);
	CHECK_EQ(profile.breakdown.count, 5);
	CHECK_EQ(part_of(&profile, "two")->alloc_count, 1);
	profile_close(&profile);
}

UNIT_TEST(events_that_make_no_sense_are_named_and_the_others_count)
{
	struct hi_stream_event event = {
		.what = AT(0, AN_ALLOC), .bytes = 48, .stack = 1, .lived_ns = HI_STREAM_LIVES};
	struct profile profile;
	FILE *file = begin(1);

	stream_stack(file, 1, site_a, 2);
	stream_events(file, &event, sizeof(event)); /* nowhere */
	event.what = AT(0x1000, AN_ALLOC);
	event.stack = 7; /* not told */
	stream_events(file, &event, sizeof(event));
	stream_events(file, &event, sizeof(event));
	event.stack = 1;
	event.what = AT(0x2000, AN_ALLOC);
	stream_drawn = 0;
	stream_events(file, &event, sizeof(event));
	stream_drawn = 1;
	stream_events(file, &event, FREE_BYTES); /* an allocation cut in two, */
	stream_events(file, &event, 8);          /* and not even a free */
	stream_events(file, NULL, 0);
	event.what = AT(0x3000, 0xff); /* functions of later versions */
	stream_events(file, &event, sizeof(event));
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK(strstr(profile.meta.damage, "an allocation of an impossible size, address"));
	CHECK_EQ(profile.meta.samples, 3);
	CHECK_EQ(profile.row_count, 2);
	CHECK_EQ(profile.row[0].inuse_count, 1);
	CHECK_EQ(profile.row[1].inuse_count, 1);
	profile_close(&profile);
}

static struct hi_stream_event an_alloc(uint64_t address, uint32_t bytes, uint32_t after_ns,
				       uint32_t lived_ns)
{
	return (struct hi_stream_event){.what = AT(address, AN_ALLOC),
					.after_ns = after_ns,
					.thread = 1,
					.bytes = bytes,
					.stack = 1,
					.lived_ns = lived_ns};
}

/* A block whose free is told with it is in use until then, and no longer. */
UNIT_TEST(the_peak_is_the_most_at_once)
{
	const struct hi_stream_event event[] = {
		an_alloc(0x1000, 100, 0, HI_STREAM_LIVES),
		an_alloc(0x2000, 50, 100, 300),
		an_alloc(0x3000, 70, 200, HI_STREAM_LIVES),
		an_alloc(0x4000, 49, 450, HI_STREAM_LIVES),
	};
	const struct hi_stream_event late = an_alloc(0x6000, 60, 450, 3000000);
	struct profile profile;

	for (int round = 0; round < 3; round++) {
		FILE *file = begin(1);

		stream_stack(file, 1, site_a, 2);
		stream_events(file, event, sizeof(event));
		/* in use again, as if it had never been freed; the other's free was missed */
		if (round == 1) {
			stream_free(file, 0x1000);
			stream_unfree(file, 0x1000);
			stream_alloc(file, 0x4000, 51, site_b, 2);
		} else if (round == 2) {
			stream_free(file, 0x1000);
			/* what its record tells is over with it, whatever the time */
			stream_events(file, &late, sizeof(late));
			stream_alloc(file, 0x5000, 101, site_b, 2);
		}
		stream_end(file);
		CHECK_EQ(play(file, &profile), 0);
		CHECK_EQ(profile.meta.peak_inuse_bytes, round == 1 ? 221 : 220);
		CHECK_EQ(profile.meta.peak_ns, round == 1 ? 1450 : 1200);
		profile_close(&profile);
	}
}

UNIT_TEST(the_peak_is_of_what_samples_stand_for)
{
	struct profile profile;
	FILE *file = begin(1000);

	for (uint64_t i = 0; i < 10; i++)
		stream_alloc(file, 0x1000 + 16 * i, 100, site_a, 2);
	stream_drawn = 5000;
	stream_alloc(file, 0x7000, 200, site_b, 2);
	for (uint64_t i = 0; i < 10; i++)
		stream_free(file, 0x1000 + 16 * i);
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK_EQ(profile.meta.peak_inuse_bytes,
		 estimate_round(estimate_row(10, 1000, 1000, INUSE_SPACE).value +
				estimate_row(1, 200, 5000, INUSE_SPACE).value));
	CHECK_EQ(profile.meta.peak_ns, 1000);
	profile_close(&profile);
}

UNIT_TEST(not_a_stream)
{
	struct profile profile;
	FILE *file = memory_file();

	CHECK_EQ(play(file, &profile), -EBADMSG);
	CHECK_STR(profile.meta.damage, "empty");
	profile_close(&profile);

	file = memory_file();
	stream_free(file, 1);
	CHECK_EQ(play(file, &profile), -EBADMSG);
	CHECK_STR(profile.meta.damage, "not a heapinject record stream");
	profile_close(&profile);

	/* it could not be written to a file that can be read */
	CHECK_EQ(play(begin(UINT64_MAX), &profile), -EBADMSG);
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
	FILE *file = begin(1);
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
	CHECK_EQ(play(file, &profile), 0);
	CHECK_STR(profile.meta.damage, expected);
	CHECK_EQ(profile.row[0].inuse_bytes, 96);
	profile_close(&profile);
}

UNIT_TEST(a_cut_stream_shows_what_was_good)
{
	struct profile profile;
	struct input input;
	FILE *file = begin(1);

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

	file = begin(1);
	CHECK_EQ(play(file, &profile), 0);
	CHECK(strstr(profile.meta.damage, "the stream has no end record") != NULL);
	profile_close(&profile);
}

UNIT_TEST(of_a_cut_record_of_events_those_count_that_are_there)
{
	struct hi_stream_event event[3];
	struct profile profile;
	struct input input;
	FILE *file = begin(1);

	for (uint64_t i = 0; i < 3; i++)
		event[i] = (struct hi_stream_event){.what = AT(0x1000 * (i + 1), AN_ALLOC),
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
	FILE *file = begin(4096);
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
		      &(struct hi_stream_event){
			      .what = AT(0x7200, AN_ALLOC), .bytes = 48, .stack = 1, .lived_ns = 5},
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
			play(file, &profile);
			profile_close(&profile);
			bytes[at] = kept;
		}
	}
	free(bytes);
}

UNIT_TEST(threads_have_their_parts_of_a_row)
{
	struct profile profile;
	FILE *file = begin(1);

	stream_stack(file, 1, site_a, 2);
	stream_thread(file, 1, 101, "server");
	stream_thread(file, 2, 102, "server");
	stream_alloc_on(file, 0x7000, 48, 1);
	stream_by = 2;
	stream_alloc_on(file, 0x7100, 48, 1);
	stream_alloc_on(file, 0x7200, 48, 1);
	stream_thread(file, 2, 102, "worker"); /* what it had before is the worker's, too */
	stream_alloc_on(file, 0x7300, 48, 1);
	stream_by = 1;
	stream_free(file, 0x7200); /* whoever frees it */
	stream_free(file, 0x7300);
	stream_unfree(file, 0x7300);
	stream_alloc_on(file, 0x7100, 48, 1); /* its free was missed */
	stream_end(file);
	CHECK_EQ(play(file, &profile), 0);
	CHECK_EQ(profile.row_count, 1);
	CHECK_EQ(profile.row[0].inuse_count, 3);
	CHECK_EQ(profile.breakdown.count, 2);
	CHECK_EQ(part_of(&profile, "server")->alloc_count, 2);
	CHECK_EQ(part_of(&profile, "server")->inuse_bytes, 2 * 48);
	CHECK_EQ(part_of(&profile, "worker")->alloc_count, 3);
	CHECK_EQ(part_of(&profile, "worker")->alloc_bytes, 3 * 48);
	CHECK_EQ(part_of(&profile, "worker")->inuse_count, 1);
	CHECK_EQ(profile.breakdown.thread[part_of(&profile, "worker")->thread].tid, 102);
	profile_close(&profile);
}

struct seen {
	unsigned dumps;
	uint64_t samples, duration_ns;
};

static void pass_over(void *context, const struct profile *profile, uint64_t bad_records)
{
	(void)context;
	(void)profile;
	(void)bad_records;
}

static void look(void *context, struct profile *profile)
{
	struct seen *seen = context;

	seen->dumps++;
	seen->samples = profile->meta.samples;
	seen->duration_ns = profile->meta.duration_ns;
}

UNIT_TEST(a_dump_is_of_what_went_before_it)
{
	FILE *file = begin(1);
	struct hi_stream_record cut = {.size = sizeof(cut), .type = HI_STREAM_DUMP};
	struct seen seen = {0};
	const struct replay_observer observer = {
		.on_stats = pass_over, .on_dump = look, .context = &seen};
	struct profile profile;
	struct input input;

	stream_alloc(file, 0x7000, 64, site_a, 2);
	stream_dump(file, 7000000000);
	stream_alloc(file, 0x7100, 64, site_a, 2);
	fwrite(&cut, 1, sizeof(cut), file); /* says not when: it is none */
	stream_end(file);
	CHECK_EQ(profile_open(&profile), 0);
	open_input_of(file, SIZE_MAX >> 1, &input);
	CHECK_EQ(replay_stream(&input, &observer, &profile), 0);
	CHECK_EQ(seen.dumps, 1);
	CHECK_EQ(seen.samples, 1);
	CHECK_EQ(seen.duration_ns, 7000000000);
	CHECK_EQ(profile.meta.samples, 2);
	CHECK(strstr(profile.meta.damage, "a record does not hold what it announces"));
	input_close(&input);
	fclose(file);
	profile_close(&profile);
}

UNIT_MAIN()
