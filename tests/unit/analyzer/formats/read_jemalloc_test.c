/* SPDX-License-Identifier: MIT */
/* read_jemalloc_test.c - figures, threads and modules of jemalloc's heap profiles. */
#include "read_file.h"

#include "allocator_frames.h"

static const char sample[] =
	"heap_v2/524288\n"
	"  t*: 15: 9120 [25: 19120]\n"
	"  t0: 12: 7520 [22: 17520] main loop\n"
	"  t7: 3: 1600 [3: 1600]\n"
	"@ 0x7f0000001010 0x555555555226 0x555555555243\n"
	"  t*: 10: 5120 [20: 15120]\n"
	"  t0: 8: 4000 [18: 14000]\n"
	"  t7: 3: 1600 [3: 1600]\n"
	"@ 0x555555555226\n"
	"  t*: 5: 4000 [0: 0]\n"
	"  t0: 4: 3000 [0: 0]\n"
	"\n"
	"MAPPED_LIBRARIES:\n"
	"555555555000-555555556000 r-xp 00001000 fe:00 10953014   /opt/app/t\n"
	"7f0000001000-7f0000002000 r-xp 00001000 fe:00 10953015   /usr/lib/libjemalloc.so.2\n";

static const struct part *part_of(const struct profile *profile, uint32_t row, const char *thread)
{
	for (size_t i = 0; i < profile->breakdown.count; i++) {
		const struct part *part = &profile->breakdown.part[i];
		const char *name = profile->breakdown.thread[part->thread].name;

		if (part->row == row && (name ? thread && strcmp(name, thread) == 0 : !thread))
			return part;
	}
	return NULL;
}

UNIT_TEST(counts_interval_and_modules)
{
	struct profile profile;

	CHECK_EQ(read_string(sample, &profile), 0);
	CHECK(profile.meta.damage == NULL);
	CHECK_EQ(profile.meta.interval, 524288);
	CHECK(!profile.meta.is_scaled);
	CHECK_EQ(profile.row_count, 2);
	CHECK_EQ(profile.row[0].key.interval, 524288);
	CHECK_EQ(profile.row[0].alloc_count, 20);
	CHECK_EQ(profile.row[0].inuse_bytes, 5120);
	CHECK_EQ(profile.row[1].alloc_count, 5); /* not accumulated: as much as is in use */
	CHECK_EQ(profile.row[1].alloc_bytes, 4000);
	CHECK_EQ(profile.module_count, 2);
	profile_close(&profile);
}

/* The allocator's own frames are nobody's business. */
UNIT_TEST(own_frames_are_dropped)
{
	struct profile profile;

	CHECK_EQ(read_string(sample, &profile), 0);
	CHECK_EQ(allocator_frames_cut(&profile), 0);
	const struct profile_stack *stack = &profile.stack[profile.row[0].key.stack];
	CHECK_EQ(stack->frame_count, 2);
	CHECK_EQ(profile.frame[stack->frame[0]].address, 0x555555555226);
	CHECK_STR(profile.module[profile.frame[stack->frame[0]].module].path, "/opt/app/t");
	profile_close(&profile);
}

/* By name, or else by number; no more than the row has, and what is left over is nobody's. */
UNIT_TEST(threads_become_parts)
{
	struct profile profile;

	CHECK_EQ(read_string(sample, &profile), 0);
	CHECK(part_of(&profile, 0, "main loop") && part_of(&profile, 0, "t7") &&
	      part_of(&profile, 1, NULL));
	CHECK_EQ(part_of(&profile, 0, "main loop")->inuse_count, 8);
	CHECK_EQ(part_of(&profile, 0, "t7")->inuse_count, 2);
	CHECK_EQ(part_of(&profile, 0, "t7")->inuse_bytes, 1120);
	CHECK_EQ(part_of(&profile, 0, "t7")->alloc_count, 2);
	CHECK_EQ(part_of(&profile, 1, NULL)->inuse_count, 1);
	CHECK_EQ(part_of(&profile, 1, NULL)->alloc_bytes, 1000);
	profile_close(&profile);
}

UNIT_TEST(bad_lines_are_named)
{
	struct profile profile;

	CHECK_EQ(read_string("heap_v2/1\n@ 0x1\n  t*: 1: 10 [0: 0]\ngarbage\n@ 0x2\n  t*: 1: 5 [0: "
			     "0]\n\nMAPPED_LIBRARIES:\n",
			     &profile),
		 0);
	CHECK_STR(profile.meta.damage,
		  "damaged at line 4: neither a stack nor the counts of a thread");
	CHECK(total_of(&profile, INUSE_SPACE) == 15);
	profile_close(&profile);
	CHECK_EQ(read_string("heap_v2/0\n", &profile), -EBADMSG);
	profile_close(&profile);
	CHECK_EQ(read_string("heap_v2/1\n@ 0x1\n  t*: 0: 10 [0: 0]\n  t*: 9999999999999999999: 10 "
			     "[0: 0]\n\nMAPPED_LIBRARIES:\n",
			     &profile),
		 0);
	CHECK_EQ(profile.row_count, 0);
	profile_close(&profile);
}

UNIT_TEST(every_cut_is_named)
{
	const char *maps = strstr(sample, "MAPPED_LIBRARIES:");

	/* Behind that line any end will do: nothing says how long the map is. */
	check_cuts(sample, (size_t)(maps - sample), (size_t)(strstr(sample, "  t0: 8") - sample));
	check_damage_anywhere(sample, strlen(sample));
}

UNIT_MAIN()
