/* SPDX-License-Identifier: MIT */
/* mapping_growth_test.c - whose mappings are still there, and who made most of them. */
#include "mapping_growth.h"

#include "mapping_rows.h"
#include "unit.h"

#define MB (1u << 20)

static struct profile profile;
static struct user_frames frames;

static void begin(void)
{
	CHECK_EQ(profile_open(&profile), 0);
	profile.has_mappings = true;
}

/* A mapping on the stack of these functions, leaf first; the last is main. */
static void add(const char *content, const char *leaf, const char *caller, uint64_t inuse,
		uint64_t resident)
{
	const char *names[] = {leaf, caller, "main"};
	struct label label = {.key = MAPPING_LABEL, .text = content};
	struct profile_row_key key = {.interval = 1};
	uint32_t frame[3], index;

	for (size_t i = 0; i < 3; i++) {
		char *name = strdup(names[i]);
		const struct profile_line line = {.function = name, .system_name = name};

		CHECK_EQ(profile_frame_named(&profile, &line, 1, &frame[i]), 0);
		free(name);
	}
	CHECK_EQ(profile_stack_of(&profile, frame, 3, 0, &key.stack), 0);
	CHECK_EQ(labels_add(&profile.labels, &label, 1, &key.labels), 0);
	CHECK_EQ(profile_mapping_at(&profile, &key, &index), 0);
	profile.mapping[index].alloc_count = profile.mapping[index].inuse_count = 1;
	profile.mapping[index].alloc_bytes = profile.mapping[index].inuse_bytes = inuse;
	profile.mapping[index].resident_bytes = resident;
}

static struct mapping_growth growth(void)
{
	char complaint[PATTERN_COMPLAINT_MAX];
	struct mapping_growth growth;

	CHECK_EQ(user_frames_open(&profile, NULL, &frames, complaint), 0);
	CHECK_EQ(mapping_growth_of(&profile, &frames, &growth), 0);
	return growth;
}

static void end(void)
{
	user_frames_close(&frames);
	profile_close(&profile);
}

static const char *name_of(uint32_t call)
{
	return frames.functions.name[frames.functions.call[call].function];
}

UNIT_TEST(owners_are_told_apart)
{
	struct mapping_growth found;

	begin();
	add(MAPPING_ANONYMOUS, "grow_pool", "serve", 3 * MB, 0);
	add(MAPPING_ANONYMOUS, "sysmalloc", "malloc", 5 * MB, 0);
	add(MAPPING_RESERVED, "allocate_stack", "__pthread_create_2_1", 8 * MB, 0);
	add(MAPPING_FILE, "map_library", "load_library", MB, 0);
	add(MAPPING_RESERVED, "reserve", "start_up", 1000 * MB, 0);
	add(MAPPING_ANONYMOUS, "x_cgo_mmap", "runtime.callCgoMmap", 64 * MB, 0);
	add(MAPPING_ANONYMOUS, MAPPING_BY_UNKNOWN, "serve", 2 * MB, 0);
	found = growth();
	CHECK_EQ(found.application, 3 * MB);
	CHECK_EQ(found.unknown, 2 * MB);
	CHECK_EQ(found.go, 64 * MB);
	CHECK_EQ(found.allocators, 5 * MB);
	CHECK_EQ(found.stacks, 8 * MB);
	CHECK_EQ(found.linker, MB);
	CHECK_EQ(found.most, 3 * MB);
	CHECK_STR(name_of(found.call), "grow_pool");
	CHECK(found.resident < 0);
	end();
}

UNIT_TEST(what_is_in_memory_counts_where_it_is_known)
{
	struct mapping_growth found;

	begin();
	add(MAPPING_ANONYMOUS, "map_much", "serve", 100 * MB, MB);
	add(MAPPING_ANONYMOUS, "fill_it", "serve", 10 * MB, 9 * MB);
	profile.mapping_residency = PROFILE_RESIDENCY_KNOWN;
	found = growth();
	CHECK_EQ(found.application, 110 * MB);
	CHECK_EQ(found.resident, 10 * MB);
	CHECK_EQ(found.most, 9 * MB);
	CHECK_STR(name_of(found.call), "fill_it");
	end();
}

UNIT_TEST(what_was_reserved_counts_once_it_is_in_memory)
{
	struct mapping_growth found;

	begin();
	add(MAPPING_RESERVED, "map_with_guard", "serve", 100 * MB, 99 * MB);
	add(MAPPING_RESERVED, "reserve", "start_up", 1000 * MB, 0);
	add(MAPPING_ANONYMOUS, "fill_it", "serve", 10 * MB, 9 * MB);
	profile.mapping_residency = PROFILE_RESIDENCY_KNOWN;
	found = growth();
	CHECK_EQ(found.application, 109 * MB);
	CHECK_EQ(found.resident, 108 * MB);
	CHECK_EQ(found.most, 99 * MB);
	CHECK_STR(name_of(found.call), "map_with_guard");
	end();
}

UNIT_MAIN()
