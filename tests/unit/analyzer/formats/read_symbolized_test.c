/* SPDX-License-Identifier: MIT */
/* read_symbolized_test.c - names before a profile find their frames. */
#include "read_file.h"

#define SYMBOLS                                                \
	"--- symbol\n"                                         \
	"binary=/opt/app/server\n"                             \
	"0x0000555555555225 leaky_alloc<0000000000001209>\n"   \
	"0x0000555555555243 parse_request--inner--innermost\n" \
	"0x000055555555526a _ZN3foo3barEi\n"                   \
	"0x0000555555555300 0x0000555555555300\n"              \
	"---\n"
#define HEAP                                                                                  \
	"heap profile:     10:     5120 [    20:    10240] @ heap_v2/524288\n"                \
	"    10:     5120 [    20:    10240] @ 0x555555555226 0x555555555243 0x55555555526b " \
	"0x555555555301\n"                                                                    \
	"\n"                                                                                  \
	"MAPPED_LIBRARIES:\n"
#define JEMALLOC                                                                 \
	"heap_v2/524288\n  t*: 1: 10 [0: 0]\n@ 0x555555555226\n  t*: 1: 10 [0: " \
	"0]\n\nMAPPED_LIBRARIES:\n"

static const struct profile_frame *frame_of(const struct profile *profile, uint32_t index)
{
	return &profile->frame[profile->stack[0].frame[index]];
}

UNIT_TEST(names_find_their_frames)
{
	struct profile profile;

	CHECK_EQ(read_string(SYMBOLS "--- heap\n" HEAP, &profile), 0);
	CHECK(profile.meta.damage == NULL);
	CHECK_EQ(profile.meta.interval, 524288);
	CHECK_STR(profile.meta.cmdline, "/opt/app/server");
	CHECK_EQ(frame_of(&profile, 0)->line_count, 1);
	CHECK_STR(frame_of(&profile, 0)->line[0].function, "leaky_alloc");
	CHECK_EQ(frame_of(&profile, 1)->line_count, 3);
	CHECK_STR(frame_of(&profile, 1)->line[0].function, "innermost");
	CHECK_STR(frame_of(&profile, 1)->line[2].function, "parse_request");
	CHECK_STR(frame_of(&profile, 2)->line[0].function, "foo::bar");
	CHECK_STR(frame_of(&profile, 2)->line[0].system_name, "_ZN3foo3barEi");
	CHECK_EQ(frame_of(&profile, 3)->line_count, 0); /* an address is no name */
	profile_close(&profile);
}

UNIT_TEST(either_profile_with_or_without_a_line_before_it)
{
	struct profile profile;

	CHECK_EQ(read_string(SYMBOLS HEAP, &profile), 0);
	CHECK_STR(leaf_name(&profile, 0), "leaky_alloc");
	profile_close(&profile);
	CHECK_EQ(read_string(SYMBOLS "--- profile\n" JEMALLOC, &profile), 0);
	CHECK(profile.meta.damage == NULL);
	CHECK_STR(leaf_name(&profile, 0), "leaky_alloc");
	profile_close(&profile);
}

UNIT_TEST(names_alone_are_no_profile)
{
	struct profile profile;

	CHECK_EQ(read_string(SYMBOLS "--- heap\n", &profile), -EBADMSG);
	CHECK(profile.meta.damage != NULL);
	profile_close(&profile);
	CHECK_EQ(read_bytes(SYMBOLS "--- profile\n\0\0\0\0\0\0\0\0\3\0\0\0",
			    sizeof(SYMBOLS "--- profile\n") + 11, &profile),
		 -EBADMSG);
	CHECK_STR(profile.meta.damage, "names, and no heap profile after them");
	profile_close(&profile);
}

UNIT_TEST(every_cut_is_named)
{
	static const char text[] = SYMBOLS "--- heap\n" HEAP;

	check_cuts(text, strlen(text) - strlen("\n"), (size_t)(strstr(text, "\nMAPPED") - text));
	check_damage_anywhere(text, strlen(text));
}

UNIT_MAIN()
