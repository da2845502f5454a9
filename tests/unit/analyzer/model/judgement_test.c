/* SPDX-License-Identifier: MIT */
/*
 * judgement_test.c - what may be said of a profile follows from what its session has recorded; and
 * what each caveat forbids.
 */
#include "judgement.h"

#include "caveats.h"
#include "hi_runtimes.h"
#include "estimate.h"
#include "sample_profile.h"

#define INTERVAL 65536u
#define MB (1u << 20)

/*
 * So many MB are in use, and as many were freed again, all of them seen; the process has twice the
 * memory that this takes.
 */
static struct profile begin(uint64_t megabytes)
{
	struct profile profile = sample_open();

	profile.meta.interval = INTERVAL;
	if (megabytes)
		sample_stack(&profile, "main;work", megabytes * 16, 64);
	profile.meta.frees = megabytes * 16;
	profile.meta.memory = (struct profile_memory){.anonymous_begin = MB,
						      .anonymous_end = (1 + 2 * megabytes) * MB,
						      .writable_end = (8 + 2 * megabytes) * MB};
	return profile;
}

static uint32_t judged(struct profile *profile)
{
	CHECK_EQ(judgement_make(profile), 0);
	return caveats_bits(&profile->meta);
}

static uint32_t only(enum hi_caveat kind)
{
	return 1u << kind;
}

/* What the caveat says. */
static void says(const struct profile *profile, enum hi_caveat kind, const char *part)
{
	CHECK(profile->meta.caveat[kind] != NULL);
	if (!strstr(profile->meta.caveat[kind], part))
		UNIT_FAIL("%s", profile->meta.caveat[kind]);
}

UNIT_TEST(nothing_speaks_against_a_usual_session)
{
	for (uint64_t megabytes = 0; megabytes <= 4096; megabytes = 4 * megabytes + 1) {
		struct profile profile = begin(megabytes);

		CHECK_EQ(judged(&profile), 0);
		/* of a stream before there was such a record */
		profile.meta.memory = (struct profile_memory){0};
		CHECK_EQ(judged(&profile), 0);
		profile_close(&profile);
	}
}

UNIT_TEST(more_in_use_than_there_is)
{
	struct profile profile = begin(100);

	profile.meta.memory.writable_end = 95 * MB;
	CHECK_EQ(judged(&profile), 0); /* within the interval, and what it is allowed to fail by */
	profile.meta.memory.writable_end = 60 * MB;
	CHECK_EQ(judged(&profile), only(HI_CAVEAT_IMPOSSIBLE));
	says(&profile, HI_CAVEAT_IMPOSSIBLE, "the process has 60MB of memory for it");
	/* it can be no longer said, and is not */
	profile.meta.memory.writable_end = 6000u * (uint64_t)MB;
	CHECK_EQ(judged(&profile), 0);
	profile_close(&profile);
}

UNIT_TEST(more_in_use_than_has_room_where_it_lies)
{
	struct profile profile = begin(100);

	profile.meta.memory.writable_end = 6000u * (uint64_t)MB;
	profile.meta.memory.spread = 100 * MB;
	CHECK_EQ(judged(&profile), 0);
	profile.meta.memory.spread = 60 * MB;
	CHECK_EQ(judged(&profile), only(HI_CAVEAT_IMPOSSIBLE));
	says(&profile, HI_CAVEAT_IMPOSSIBLE, "all of them lie in 60MB of memory");
	profile_close(&profile);
}

/* So wide that blocks without a gap have a sample in each piece, whatever intervals there are. */
UNIT_TEST(pieces_are_wide_enough)
{
	struct profile profile = begin(1);

	CHECK_EQ(judgement_spread_piece(&profile), 8 * INTERVAL);
	profile.row[0].key.interval = 10 * INTERVAL;
	CHECK_EQ(judgement_spread_piece(&profile), 128 * INTERVAL);
	profile.row[0].key.interval = 1;
	CHECK_EQ(judgement_spread_piece(&profile), INTERVAL);
	profile_close(&profile);
}

UNIT_TEST(frees_that_nobody_saw)
{
	struct profile profile = begin(100);

	profile.meta.missed_frees = 2;
	CHECK_EQ(judged(&profile), 0);
	profile.meta.missed_frees = 5; /* of 1600 */
	CHECK_EQ(judged(&profile), only(HI_CAVEAT_MISSED_FREES));
	says(&profile, HI_CAVEAT_MISSED_FREES,
	     "5 sampled blocks were given out again without a free in between (1600 frees were "
	     "seen)");
	profile.meta.dropped_frees = 5; /* lost by us, and told as such */
	CHECK_EQ(judged(&profile), 0);
	profile.meta.dropped_frees = 0;
	profile.meta.frees = 100000; /* the order of records of several CPUs */
	CHECK_EQ(judged(&profile), 0);
	profile_close(&profile);
}

UNIT_TEST(frees_that_nobody_saw_in_exact_mode)
{
	struct profile profile = begin(100);

	profile.row[0].key.interval = profile.meta.interval = 1;
	profile.meta.memory = (struct profile_memory){0};
	profile.meta.missed_frees = 7;
	profile.meta.frees = 0;
	CHECK_EQ(judged(&profile), 0);
	profile.meta.missed_frees = 100;
	CHECK_EQ(judged(&profile), only(HI_CAVEAT_MISSED_FREES));
	profile.meta.frees = 100000;
	CHECK_EQ(judged(&profile), 0);
	profile_close(&profile);
}

UNIT_TEST(an_allocator_that_is_not_hooked)
{
	struct profile profile = begin(0);

	profile.meta.unhooked = strdup("je_malloc in the program itself");
	CHECK_EQ(judged(&profile), only(HI_CAVEAT_UNHOOKED));
	CHECK_STR(profile.meta.caveat[HI_CAVEAT_UNHOOKED],
		  "its allocations go to je_malloc in the program itself, which is not hooked: "
		  "they are not in these figures");
	profile.meta.memory.anonymous_end = 266 * MB;
	CHECK_EQ(judged(&profile), only(HI_CAVEAT_UNHOOKED));
	says(&profile, HI_CAVEAT_UNHOOKED,
	     "; the process grew by 265MB, of which the hooked functions account for at most "
	     "192kB");
	profile_close(&profile);
}

/* It neither takes an interval nor a verdict away. */
UNIT_TEST(a_runtime_is_named)
{
	struct profile profile = begin(1);

	profile.meta.runtimes = 1u << HI_RUNTIME_V8;
	CHECK_EQ(judged(&profile), only(HI_CAVEAT_OTHER_HEAP));
	CHECK_STR(caveats_word(HI_CAVEAT_OTHER_HEAP), "Note");
	CHECK_STR(caveats_word(HI_CAVEAT_OTHER_MEANS), "Warning");
	says(&profile, HI_CAVEAT_OTHER_HEAP, "it runs V8: the JavaScript heap");
	profile.meta.memory.anonymous_end = 266 * MB;
	CHECK_EQ(judged(&profile), only(HI_CAVEAT_OTHER_HEAP));
	says(&profile, HI_CAVEAT_OTHER_HEAP,
	     "; the process grew by 265MB, of which the hooked functions account for at most "
	     "2.79MB; that may be the JavaScript heap");
	profile.meta.mapped_begin.bytes[MAPPED_STACK] = MB;
	profile.meta.mapped_end.bytes[MAPPED_STACK] = 266 * MB;
	CHECK_EQ(judged(&profile), only(HI_CAVEAT_OTHER_HEAP) | only(HI_CAVEAT_OTHER_MEANS));
	CHECK(!strstr(profile.meta.caveat[HI_CAVEAT_OTHER_MEANS], "JavaScript"));
	profile_close(&profile);
}

UNIT_TEST(growth_by_other_means)
{
	struct profile profile = begin(1);

	profile.meta.memory.anonymous_end = 15 * MB;
	CHECK_EQ(judged(&profile), 0);
	profile.meta.memory.anonymous_end = 266 * MB;
	CHECK_EQ(judged(&profile), only(HI_CAVEAT_OTHER_MEANS));
	says(&profile, HI_CAVEAT_OTHER_MEANS,
	     "the process grew by 265MB, of which the hooked functions account for at most 2.");
	/* What was allocated may have been freed since, and be kept by the allocator. */
	sample_stack(&profile, "main;passing", 100 * 16, 64);
	for (size_t i = 0; i < profile.row_count; i++)
		profile.row[i].inuse_count = profile.row[i].inuse_bytes = 0;
	profile.meta.peak_inuse_bytes = 100 * MB;
	CHECK_EQ(judged(&profile), 0);
	profile.meta.peak_inuse_bytes = MB; /* but not when so little was in use at a time */
	profile.meta.memory.anonymous_end = 400u * (uint64_t)MB;
	CHECK_EQ(judged(&profile), only(HI_CAVEAT_OTHER_MEANS));
	says(&profile, HI_CAVEAT_OTHER_MEANS,
	     "while through the hooked functions it had at most 1MB at a time");
	profile.meta.memory.anonymous_begin = 500u * (uint64_t)MB; /* it shrank */
	CHECK_EQ(judged(&profile), 0);
	profile_close(&profile);
}

UNIT_TEST(many_were_dropped)
{
	struct profile profile = begin(100);
	struct profile_meta *meta = &profile.meta;

	meta->samples = meta->frees = 980;
	meta->dropped_allocs = meta->dropped_frees = meta->live_set_full = 20;
	CHECK_EQ(judged(&profile), 0); /* 2 % */
	meta->dropped_allocs = 330;
	CHECK_EQ(judged(&profile), only(HI_CAVEAT_DROPPED));
	says(&profile, HI_CAVEAT_DROPPED,
	     "25% of the samples and 2% of their frees were dropped, as the reader did not keep "
	     "up; --sample ");
	meta->dropped_allocs = 0;
	meta->dropped_frees = 21;
	CHECK_EQ(judged(&profile), only(HI_CAVEAT_DROPPED));
	says(&profile, HI_CAVEAT_DROPPED, "2% of the frees of samples were dropped");
	meta->dropped_frees = 0;
	meta->live_set_full = 980;
	CHECK_EQ(judged(&profile), only(HI_CAVEAT_DROPPED));
	says(&profile, HI_CAVEAT_DROPPED, "50% of the samples were given up");
	says(&profile, HI_CAVEAT_DROPPED, "--live-max");
	/* a few of a few */
	meta->samples = 10;
	meta->live_set_full = 7;
	CHECK_EQ(judged(&profile), 0);
	profile_close(&profile);
}

static bool has_interval(const struct profile *profile, enum sample_type type)
{
	const struct estimate total = estimate_total(profile, type);
	double low, high;

	estimate_interval(&total, &low, &high);
	return high > low;
}

UNIT_TEST(what_each_caveat_forbids)
{
	static const struct {
		bool inuse, alloc, verdicts, high, low;
	} wanted[HI_CAVEATS] = {
		[HI_CAVEAT_MISSED_FREES] = {false, true, false, true, false},
		[HI_CAVEAT_IMPOSSIBLE] = {false, true, false, true, false},
		[HI_CAVEAT_UNHOOKED] = {false, false, false, false, true},
		[HI_CAVEAT_OTHER_MEANS] = {false, false, true, false, true},
		[HI_CAVEAT_OTHER_HEAP] = {true, true, true, false, false},
		[HI_CAVEAT_PAUSED] = {true, true, false, false, true},
		[HI_CAVEAT_DROPPED] = {false, false, false, true, true},
	};
	struct profile profile = begin(10);

	CHECK(has_interval(&profile, INUSE_SPACE) && has_interval(&profile, ALLOC_OBJECTS));
	CHECK(!caveats_withhold_verdicts(0) && !caveats_too_high(0) && !caveats_too_low(0));
	for (int kind = 0; kind < HI_CAVEATS; kind++) {
		CHECK_EQ(caveats_set(&profile.meta, (enum hi_caveat)kind, "for a reason"), 0);
		CHECK_EQ(has_interval(&profile, INUSE_SPACE), wanted[kind].inuse);
		CHECK_EQ(has_interval(&profile, INUSE_OBJECTS), wanted[kind].inuse);
		CHECK_EQ(has_interval(&profile, ALLOC_SPACE), wanted[kind].alloc);
		CHECK_EQ(has_interval(&profile, ALLOC_OBJECTS), wanted[kind].alloc);
		CHECK_EQ(caveats_withhold_verdicts(1u << kind), !wanted[kind].verdicts);
		CHECK_EQ(caveats_too_high(1u << kind), wanted[kind].high);
		CHECK_EQ(caveats_too_low(1u << kind), wanted[kind].low);
		CHECK_EQ(caveats_kind(caveats_name((enum hi_caveat)kind),
				      strlen(caveats_name((enum hi_caveat)kind))),
			 kind);
		caveats_clear(&profile.meta);
	}
	CHECK_EQ(caveats_kind("missed", 6), HI_CAVEATS);
	CHECK_EQ(caveats_kind("", 0), HI_CAVEATS);
	profile_close(&profile);
}

UNIT_MAIN()
