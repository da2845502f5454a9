/* SPDX-License-Identifier: MIT */
/* allocator_frames_test.c - where stacks are cut. */
#include "sample_profile.h"

#include "allocator_frames.h"
#include "render_formats.h"

/* The stack, root first, after the cut. */
static void check_cut(const char *stack, const char *expected)
{
	const struct render_options in_use = {.type = INUSE_SPACE};
	struct profile profile = sample_open();
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	sample_stack(&profile, stack, 1, 10);
	CHECK_EQ(allocator_frames_cut(&profile), 0);
	CHECK(out);
	CHECK_EQ(render_collapsed(&profile, &in_use, out), 0);
	fclose(out);
	text[strcspn(text, " ")] = 0;
	CHECK_STR(text, expected);
	free(text);
	profile_close(&profile);
}

UNIT_TEST(all_below_the_call_goes)
{
	check_cut("main;serve;tc_new;whatever;tcmalloc::SampleAllocation", "main;serve");
	check_cut("main;serve;je_malloc_default;prof_backtrace_impl", "main;serve");
	check_cut("main;serve;malloc;free_something", "main;serve");
	check_cut("main;serve;zmalloc", "main;serve;zmalloc");
	check_cut("main;mi_open", "main;mi_open");
}

/* The first frames are no user's, so there is nobody to charge. */
UNIT_TEST(what_only_the_allocator_has_stays)
{
	check_cut("tcmalloc::Init;tcmalloc::Grow", "tcmalloc::Init");
	check_cut("je_arena_boot;start;serve;malloc", "je_arena_boot;start;serve");
	check_cut("serve", "serve");
}

UNIT_TEST(code_of_the_library_counts_without_a_name)
{
	const struct profile_module library = {.lo = 0x1000,
					       .hi = 0x2000,
					       .number = 1,
					       .path = (char[]){"/usr/lib/libjemalloc.so.2"}},
				    other = {.lo = 0x3000,
					     .hi = 0x4000,
					     .number = 2,
					     .path = (char[]){"/usr/lib/libjemallocator.so"}};
	struct profile profile = sample_open();
	uint32_t module[2], frame[3];

	CHECK_EQ(profile_add_module(&profile, &library, &module[0]), 0);
	CHECK_EQ(profile_add_module(&profile, &other, &module[1]), 0);
	CHECK_EQ(profile_frame_at(&profile, 0x1234, (int32_t)module[0], &frame[0]), 0);
	CHECK_EQ(profile_frame_at(&profile, 0x1334, (int32_t)module[0], &frame[1]), 0);
	CHECK_EQ(profile_frame_at(&profile, 0x3234, (int32_t)module[1], &frame[2]), 0);
	sample_frames(&profile, frame, 3, 1, 10);
	CHECK_EQ(allocator_frames_cut(&profile), 0);
	CHECK_EQ(profile.stack[0].frame_count, 1);
	CHECK_EQ(profile.stack[0].frame[0], frame[2]);
	profile_close(&profile);
}

UNIT_MAIN()
