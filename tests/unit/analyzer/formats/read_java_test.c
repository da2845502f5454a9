/* SPDX-License-Identifier: MIT */
/* read_java_test.c - heap profiles of Google's agent for Java. */
#include "read_file.h"

#include <math.h>

static const char sample[] = "--- heapz 1 ---\n"
			     "format = java\n"
			     "resolution = bytes\n"
			     "      7048     2 @ 0x00000003 0x00000004\n"
			     "       100     1 @ 0x00000005\n"
			     "\n"
			     "    0x00000003 com.example.Shop.add (Shop.java:12)\n"
			     "    0x00000004 Java_run (/usr/lib/libnative.so)\n"
			     "    0x00000005 GC\n";

UNIT_TEST(samples_have_bytes_first)
{
	struct profile profile;

	CHECK_EQ(read_string(sample, &profile), 0);
	CHECK(profile.meta.damage == NULL);
	CHECK_EQ(profile.row_count, 2);
	CHECK_EQ(profile.row[0].inuse_bytes, 7048);
	CHECK_EQ(profile.row[0].inuse_count, 2);
	CHECK(fabs(total_of(&profile, INUSE_OBJECTS) -
		   (2 / (1 - exp(-3524.0 / 524288)) + 1 / (1 - exp(-100.0 / 524288)))) < 1e-6);
	CHECK_EQ(profile.meta.missing, PROFILE_MISSING_ALLOC);
	profile_close(&profile);
}

UNIT_TEST(locations_have_names)
{
	struct profile profile;

	CHECK_EQ(read_string(sample, &profile), 0);
	const uint32_t *frame = profile.stack[profile.row[0].key.stack].frame;
	CHECK_STR(profile.frame[frame[0]].line[0].function, "com.example.Shop.add");
	CHECK_STR(profile.frame[frame[0]].line[0].file, "Shop.java");
	CHECK_EQ(profile.frame[frame[0]].line[0].line, 12);
	CHECK_STR(profile.frame[frame[1]].line[0].function, "Java_run");
	CHECK_STR(profile.frame[frame[1]].line[0].file, "libnative.so");
	CHECK_STR(leaf_name(&profile, 1), "GC");
	profile_close(&profile);
}

UNIT_TEST(damage_is_named_by_its_line)
{
	struct profile profile;

	CHECK_EQ(
		read_string("--- heapz 1 ---\nformat = java\n 10 0 @ 0x1\n 10 1 @ 0x1\n", &profile),
		0);
	CHECK(profile.meta.damage && strstr(profile.meta.damage, "line 3"));
	CHECK_EQ(profile.row_count, 1);
	profile_close(&profile);
	check_damage_anywhere(sample, strlen(sample));
}

UNIT_MAIN()
