/* SPDX-License-Identifier: MIT */
/*
 * replay_memory_test.c - what a stream says of the process's memory and of frees of unsampled
 * blocks, in its present version and in the one before.
 */
#include "replayed.h"

#include "records.h"

#define SECOND UINT64_C(1000000000)

static void put_memory(FILE *out, uint64_t seconds, uint64_t anonymous, size_t size)
{
	struct hi_stream_memory memory = {.record.type = HI_STREAM_MEMORY,
					  .time_ns = seconds * SECOND,
					  .anonymous_bytes = anonymous,
					  .writable_bytes = anonymous + 1,
					  .resident_bytes = anonymous + 2,
					  .limit_bytes = anonymous + 3,
					  .limited_bytes = anonymous + 4};

	stream_put(out, &memory, size, NULL, 0);
}

static void put_frees(FILE *out, uint32_t classes, uint64_t share_ppm,
		      const struct hi_stream_frees *list, size_t size)
{
	struct hi_stream_unsampled_frees frees = {.record.type = HI_STREAM_UNSAMPLED_FREES,
						  .time_ns = SECOND,
						  .classes = classes,
						  .share_ppm = share_ppm};

	stream_put(out, &frees, sizeof(frees), list, size);
}

/* name_size, refusal_size: as announced; the texts are written whole. */
static void put_heap(FILE *out, uint64_t seconds, const char *name, const char *refusal,
		     uint32_t announced)
{
	struct hi_stream_heap heap = {.record.type = HI_STREAM_HEAP,
				      .time_ns = seconds * SECOND,
				      .anonymous_bytes = 100 * seconds,
				      .used_bytes = 41 * seconds,
				      .used_count = 3,
				      .used_resident_bytes = 40 * seconds,
				      .free_resident_bytes = 30 * seconds,
				      .cache_resident_bytes = 20,
				      .trim_bytes = 25,
				      .own_resident_bytes = 5,
				      .unsure_resident_bytes = 1,
				      .name_size = (uint32_t)strlen(name),
				      .refusal_size = announced};
	char text[64];
	const int size = snprintf(text, sizeof(text), "%s%s", name, refusal);

	stream_put(out, &heap, sizeof(heap), text, (size_t)size);
}

static void put_whole_heap(FILE *out, uint64_t seconds, const char *name, const char *refusal)
{
	put_heap(out, seconds, name, refusal, (uint32_t)strlen(refusal));
}

UNIT_TEST(what_the_allocator_says)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	put_whole_heap(file, 1, "glibc 2.36", "");
	put_whole_heap(file, 3, "glibc\t2.36", "");
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	const struct heap_history *heap = &profile.meta.heap;
	CHECK(!profile.meta.damage);
	CHECK_EQ(profile.meta.duration_ns, 3 * SECOND);
	CHECK_STR(heap->name, "glibc?2.36");
	CHECK(!heap_history_is_refused(heap));
	CHECK_EQ(heap->count, 2);
	CHECK_EQ(heap->moment[0].time_ns, SECOND);
	CHECK_EQ(heap->moment[1].anonymous, 300);
	CHECK_EQ(heap->moment[1].used_bytes, 123);
	CHECK_EQ(heap->moment[1].used_count, 3);
	CHECK_EQ(heap->moment[1].used, 120);
	CHECK_EQ(heap->moment[1].free, 90);
	CHECK_EQ(heap->moment[1].cached, 20);
	CHECK_EQ(heap->moment[1].trimmable, 25);
	CHECK_EQ(heap->moment[1].own, 5);
	CHECK_EQ(heap->moment[1].unsure, 1);
	profile_close(&profile);
}

/* No figure of such a look counts, and the last look decides whether the others may be stated. */
UNIT_TEST(a_heap_that_cannot_be_read)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	put_whole_heap(file, 1, "glibc 2.36", "");
	put_whole_heap(file, 2, "glibc 2.36 and DPDK", "heaps of DPDK cannot be read");
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.meta.heap.count, 1);
	CHECK(heap_history_is_refused(&profile.meta.heap));
	CHECK_STR(profile.meta.heap.refusal, "heaps of DPDK cannot be read");
	profile_close(&profile);

	file = stream_begin(1);
	put_whole_heap(file, 1, "", "it takes too long");
	put_whole_heap(file, 2, "glibc 2.36", "");
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.meta.heap.count, 1);
	CHECK(!heap_history_is_refused(&profile.meta.heap));
	profile_close(&profile);
}

UNIT_TEST(texts_of_a_heap_that_are_longer_than_the_record)
{
	static const uint32_t announced[] = {9, 1000, UINT32_MAX};

	for (size_t i = 0; i < sizeof(announced) / sizeof(*announced); i++) {
		struct profile profile;
		FILE *file = stream_begin(1);

		put_heap(file, 1, "12345678", "", announced[i]);
		stream_end(file);
		CHECK_EQ(replayed(file, &profile), 0);
		CHECK(profile.meta.damage && strstr(profile.meta.damage, "what it announces"));
		CHECK(!profile.meta.heap.name);
		CHECK_EQ(profile.meta.heap.count, 0);
		profile_close(&profile);
	}
}

UNIT_TEST(memory_of_this_version)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	put_memory(file, 1, 100, sizeof(struct hi_stream_memory));
	stream_alloc(file, 0x7000, 48, site_a, 2);
	put_memory(file, 2, 300, sizeof(struct hi_stream_memory));
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(!profile.meta.damage);
	CHECK_EQ(profile.meta.moment_count, 2);
	CHECK_EQ(profile.meta.moment[0].time_ns, SECOND);
	CHECK_EQ(profile.meta.moment[0].anonymous, 100);
	CHECK_EQ(profile.meta.moment[0].resident, 102);
	CHECK_EQ(profile.meta.moment[0].seen, 0);
	CHECK_EQ(profile.meta.moment[1].anonymous, 300);
	CHECK_EQ(profile.meta.moment[1].seen, 48);
	CHECK_EQ(profile.meta.limit_bytes, 303);
	CHECK_EQ(profile.meta.limited_bytes, 304);
	CHECK_EQ(profile.meta.memory.writable_end, 301);
	profile_close(&profile);
}

UNIT_TEST(memory_of_version_4)
{
	struct profile profile;
	FILE *file = memory_file();

	CHECK_EQ(HI_STREAM_MEMORY_OF_4, 32);
	stream_header(file, 1);
	put_memory(file, 1, 100, HI_STREAM_MEMORY_OF_4);
	put_memory(file, 2, 300, HI_STREAM_MEMORY_OF_4);
	/* what follows is not taken for the rest of it */
	stream_maps(file, "maps of the process that follow\n");
	stream_end(file);
	const uint32_t version = 4;
	CHECK_EQ(fseek(file, offsetof(struct hi_stream_header, version), SEEK_SET), 0);
	CHECK_EQ(fwrite(&version, sizeof(version), 1, file), 1);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(!profile.meta.damage);
	CHECK_EQ(profile.meta.moment_count, 2);
	CHECK_EQ(profile.meta.moment[1].anonymous, 300);
	CHECK_EQ(profile.meta.moment[1].resident, 0);
	CHECK_EQ(profile.meta.limit_bytes, 0);
	CHECK_EQ(profile.meta.limited_bytes, 0);
	CHECK_EQ(profile.meta.memory.writable_end, 301);
	profile_close(&profile);
}

UNIT_TEST(memory_that_is_cut_short)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	put_memory(file, 1, 100, HI_STREAM_MEMORY_OF_4 - 8);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(profile.meta.damage);
	CHECK_EQ(profile.meta.moment_count, 0);
	profile_close(&profile);
}

/* The figures are since the start: the later record counts. */
UNIT_TEST(frees_of_unsampled_blocks)
{
	static const struct hi_stream_frees first[] = {{3, 1, 2, 3}, {5, 10, 20, 30}},
					    second[] = {{5, 11, 44, 55},
							{HI_SIZE_CLASSES - 1, 1, 4, 1ull << 40}};
	struct profile profile;
	FILE *file = stream_begin(1);

	put_frees(file, 2, 1000000, first, sizeof(first));
	put_frees(file, 2, 250000, second, sizeof(second));
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(!profile.meta.damage);
	CHECK(profile.meta.frees_share == 0.25);
	CHECK_EQ(profile.meta.unsampled_freed[3].count, 2);
	CHECK_EQ(profile.meta.unsampled_freed[5].seen, 11);
	CHECK_EQ(profile.meta.unsampled_freed[5].count, 44);
	CHECK_EQ(profile.meta.unsampled_freed[5].bytes, 55);
	CHECK_EQ(profile.meta.unsampled_freed[HI_SIZE_CLASSES - 1].bytes, 1ull << 40);
	profile_close(&profile);
}

UNIT_TEST(frees_of_an_impossible_size)
{
	static const struct hi_stream_frees list[] = {
		{HI_SIZE_CLASSES, 1, 2, 3}, {UINT32_MAX, 1, 2, 3}, {7, 1, 2, 3}};
	struct profile profile;
	FILE *file = stream_begin(1);

	put_frees(file, 3, 1000000, list, sizeof(list));
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(profile.meta.damage && strstr(profile.meta.damage, "frees of an impossible size"));
	CHECK_EQ(profile.meta.unsampled_freed[7].count, 2); /* what is good counts */
	for (uint32_t i = 0; i < HI_SIZE_CLASSES; i++)
		CHECK_EQ(profile.meta.unsampled_freed[i].seen, i == 7);
	CHECK(!profile.meta.limit_bytes); /* what follows in memory is as it was */
	profile_close(&profile);
}

/* More classes than there are, or than the record holds. */
UNIT_TEST(frees_of_too_many_classes)
{
	static struct hi_stream_frees list[HI_SIZE_CLASSES + 1];
	static const struct {
		uint32_t classes, held;
	} cases[] = {{HI_SIZE_CLASSES + 1, HI_SIZE_CLASSES + 1}, {2, 1}, {UINT32_MAX, 1}};

	for (uint32_t i = 0; i <= HI_SIZE_CLASSES; i++)
		list[i] = (struct hi_stream_frees){i % HI_SIZE_CLASSES, 1, 1, 1};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile profile;
		FILE *file = stream_begin(1);

		put_frees(file, cases[i].classes, 1000000, list, cases[i].held * sizeof(list[0]));
		stream_end(file);
		CHECK_EQ(replayed(file, &profile), 0);
		CHECK(profile.meta.damage && strstr(profile.meta.damage, "what it announces"));
		CHECK_EQ(profile.meta.unsampled_freed[0].seen, 0);
		CHECK(profile.meta.frees_share == 0);
		profile_close(&profile);
	}
}

/* It could not be written to a file that can be read. */
UNIT_TEST(more_than_all_frees)
{
	static const uint64_t shares[] = {1000001, UINT64_MAX};

	for (size_t i = 0; i < 2; i++) {
		struct profile profile;
		FILE *file = stream_begin(1);

		put_frees(file, 0, shares[i], NULL, 0);
		stream_end(file);
		CHECK_EQ(replayed(file, &profile), 0);
		CHECK(profile.meta.damage && strstr(profile.meta.damage, "impossible share"));
		CHECK(profile.meta.frees_share == 0);
		profile_close(&profile);
	}
}

UNIT_MAIN()
