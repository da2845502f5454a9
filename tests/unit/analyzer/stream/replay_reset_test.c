/* SPDX-License-Identifier: MIT */
/* replay: PAUSE and RESET records. */
#include "caveats.h"
#include "replayed.h"

#define SECOND 1000000000ull

static void pause_at(FILE *file, uint64_t time_ns, bool begins)
{
	struct hi_stream_pause pause = {.record.type = HI_STREAM_PAUSE,
					.record.flags = begins ? HI_STREAM_PAUSE_BEGINS : 0,
					.time_ns = time_ns};

	stream_put(file, &pause, sizeof(pause), NULL, 0);
}

static void heap_at(FILE *file, uint64_t time_ns, uint64_t used)
{
	struct hi_stream_heap heap = {
		.record.type = HI_STREAM_HEAP, .time_ns = time_ns, .used_resident_bytes = used};

	stream_put(file, &heap, sizeof(heap), NULL, 0);
}

static void reset_at(FILE *file, uint64_t time_ns)
{
	struct hi_stream_reset reset = {.record.type = HI_STREAM_RESET,
					.time_ns = time_ns,
					.start_unix_ns = 1700000000000000000ull + time_ns};

	stream_put(file, &reset, sizeof(reset), NULL, 0);
}

static void end_at(FILE *file, uint64_t time_ns)
{
	struct hi_stream_end end = {.record.type = HI_STREAM_END,
				    .record.flags = HI_STREAM_END_DURATION,
				    .time_ns = time_ns};

	stream_put(file, &end, sizeof(end), NULL, 0);
}

static void freed(FILE *file, uint32_t size_class, uint64_t count)
{
	struct hi_stream_unsampled_frees record = {
		.record.type = HI_STREAM_UNSAMPLED_FREES, .classes = 1, .share_ppm = 500000};
	struct hi_stream_frees one = {
		.size_class = size_class, .seen = (uint32_t)count, .count = count, .bytes = count};

	stream_put(file, &record, sizeof(record), &one, sizeof(one));
}

UNIT_TEST(pauses_are_a_caveat_with_their_length)
{
	FILE *file = stream_begin(1);
	struct profile profile;

	stream_alloc(file, 0x7000, 64, site_a, 2);
	pause_at(file, 1 * SECOND, true);
	pause_at(file, 2 * SECOND, true); /* is one already */
	stream_free(file, 0x7000);
	pause_at(file, 4 * SECOND, false);
	pause_at(file, 5 * SECOND, false);
	pause_at(file, 7 * SECOND, true); /* to the end */
	end_at(file, 9 * SECOND);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(!profile.meta.damage);
	CHECK_EQ(profile.meta.paused_ns, 5 * SECOND);
	CHECK_EQ(profile.meta.frees, 1); /* also in a pause */
	CHECK_EQ(caveats_bits(&profile.meta), 1u << HI_CAVEAT_PAUSED);
	CHECK_STR(profile.meta.caveat[HI_CAVEAT_PAUSED],
		  "for 5.00s of these 9.00s nothing was sampled (heapinject pause): what was "
		  "allocated then is not in these figures");
	profile_close(&profile);
}

UNIT_TEST(a_reset_begins_a_new_profile)
{
	FILE *file = stream_begin(1);
	struct profile profile;

	stream_memory(file, 1000, 5000);
	stream_maps(file, "old");
	stream_interval(file, 64);
	stream_interval(file, 1);
	stream_stack(file, 1, site_b, 2);
	stream_thread(file, 1, 77, "worker");
	stream_alloc(file, 0x7000, 64, site_a, 2);
	stream_alloc_on(file, 0x7100, 32, 1);
	pause_at(file, 1 * SECOND, true);
	stream_stats(file);
	heap_at(file, 2 * SECOND, 1000);
	reset_at(file, 3 * SECOND);
	heap_at(file, 4 * SECOND, 2000);
	stream_memory(file, 3000, 5000);
	stream_maps(file, "new");
	stream_free(file, 0x7000); /* it is not known any more */
	stream_alloc_on(file, 0x7200, 16, 1);
	stream_alloc_on(file, 0x7300, 16, 1);
	stream_free(file, 0x7300);
	stream_alloc_on(file, 0x7100, 8, 1); /* the free of the other one was before */
	stream_stats(file);
	end_at(file, 8 * SECOND);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(!profile.meta.damage);
	CHECK_EQ(profile.meta.samples, 3);
	CHECK_EQ(profile.meta.frees, 1);
	CHECK_EQ(profile.meta.missed_frees, 0);
	CHECK_EQ(profile.meta.duration_ns, 5 * SECOND);
	CHECK_EQ(profile.meta.start_unix_ns, 1700000000000000000ull + 3 * SECOND);
	CHECK_EQ(profile.meta.paused_ns, 5 * SECOND); /* the pause goes on */
	CHECK_EQ(profile.meta.memory.anonymous_begin, 3000);
	CHECK_EQ(profile.meta.moment_count, 1);
	CHECK_EQ(profile.meta.heap.count, 1);
	CHECK_EQ(profile.meta.heap.moment[0].time_ns, SECOND);
	CHECK_EQ(profile.meta.heap.moment[0].used, 2000);
	CHECK_EQ(profile.meta.dropped_allocs, 0); /* they were dropped before */
	CHECK_EQ(profile.meta.payload_cpu_ns, 0);
	CHECK_EQ(profile.meta.change_count, 1);
	CHECK_EQ(profile.meta.change[0].interval, 1);
	CHECK_EQ(profile.meta.change[0].time_ns, 0);
	CHECK_STR(profile.meta.maps, "new");
	uint64_t bytes = 0, inuse = 0;
	for (size_t i = 0; i < profile.row_count; i++) {
		bytes += profile.row[i].alloc_bytes;
		inuse += profile.row[i].inuse_bytes;
	}
	CHECK_EQ(bytes, 40);
	CHECK_EQ(inuse, 24);
	CHECK_STR(profile.breakdown.thread[profile.breakdown.part[0].thread].name, "worker");
	profile_close(&profile);
}

/* What takes the place of blocks from before the reset is no growth, whether they were samples. */
UNIT_TEST(samples_from_before_count_as_blocks_from_before)
{
	const uint32_t size_class = hi_size_class(64 + 8); /* usable bytes */
	FILE *file = stream_begin(1);
	struct profile profile;

	stream_alloc(file, 0x7000, 64, site_a, 2);
	stream_alloc(file, 0x7100, 64, site_a, 2);
	freed(file, size_class, 10);
	reset_at(file, 3 * SECOND);
	stream_free(file, 0x7000);
	freed(file, size_class, 14);
	stream_free(file, 0x7100);
	stream_free(file, 0x7100); /* once */
	end_at(file, 8 * SECOND);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.meta.unsampled_freed[size_class].seen, 4 + 2);
	CHECK_EQ(profile.meta.unsampled_freed[size_class].count, 4 + 2);
	CHECK_EQ(profile.meta.unsampled_freed[size_class].bytes, 4 + 2 * 72);
	CHECK_EQ(profile.meta.frees, 0);
	profile_close(&profile);
}

UNIT_TEST(resets_may_follow_each_other)
{
	FILE *file = stream_begin(1);
	struct profile profile;

	stream_alloc(file, 0x7000, 64, site_a, 2);
	reset_at(file, 3 * SECOND);
	stream_alloc(file, 0x7100, 64, site_a, 2);
	reset_at(file, 4 * SECOND);
	reset_at(file, 4 * SECOND);
	stream_free(file, 0x7100);
	stream_alloc(file, 0x7100, 8, site_a, 2);
	end_at(file, 5 * SECOND);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.meta.samples, 1);
	CHECK_EQ(profile.meta.resets, 3);
	CHECK_EQ(profile.meta.duration_ns, SECOND);
	profile_close(&profile);
}

UNIT_MAIN()
