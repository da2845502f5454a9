/* SPDX-License-Identifier: MIT */
/*
 * snapshots_test.c - massif's text: a snapshot a file, or what one file tells of when things were
 * allocated.
 */
#include "snapshots.h"

#include "rendered.h"

#define SECOND UINT64_C(1000000000)

static void add(struct snapshots *snapshots, uint64_t start_unix_ns, uint64_t count)
{
	struct profile profile = sample_open();

	profile.meta.start_unix_ns = start_unix_ns;
	profile.meta.duration_ns = SECOND;
	sample_stack(&profile, "main;store#2", count, 1000);
	sample_stack(&profile, "main;tiny", 1, 1);
	CHECK_EQ(snapshots_add(snapshots, &profile), 0);
	profile_close(&profile);
}

static char *massif_of(struct snapshots *snapshots)
{
	const struct render_options options = {.type = INUSE_SPACE, .snapshots = snapshots};
	struct profile profile = sample_open();
	char *text = rendered("massif", &profile, &options, 0);

	profile_close(&profile);
	return text;
}

UNIT_TEST(files_in_the_order_of_their_times)
{
	struct snapshots snapshots = {0};

	add(&snapshots, 30 * SECOND, 3);
	add(&snapshots, 10 * SECOND, 5);
	add(&snapshots, 20 * SECOND, 4);
	char *text = massif_of(&snapshots);
	check_has(text, "time_unit: ms\n");
	check_has(text, "snapshot=0\n#-----------\ntime=0\nmem_heap_B=5001\nmem_heap_extra_B="
			"0\nmem_stacks_B=0\nheap_tree=peak\nn2: 5001 (heap");
	check_has(text, "snapshot=1\n#-----------\ntime=10000\nmem_heap_B=4001\nmem_heap_extra_B="
			"0\nmem_stacks_B=0\nheap_tree=detailed\n");
	check_has(text, "snapshot=2\n#-----------\ntime=20000\nmem_heap_B=3001\n");
	/* What begins with # is a comment to ms_print. */
	check_has(text, "\n n1: 5000 0x");
	check_has(text, ": store?2 (src/file.c:10)\n  n0: 5000 0x");
	check_has(text, "\n n0: 1 in 1 places, all below the threshold (1.00%)\n");
	free(text);
	snapshots_close(&snapshots);
}

UNIT_TEST(files_of_unknown_times_stay_as_they_were_given)
{
	struct snapshots snapshots = {0};

	add(&snapshots, 30 * SECOND, 3);
	add(&snapshots, 0, 5);
	char *text = massif_of(&snapshots);
	check_has(text, "in the order given: their times are not known\n");
	check_has(text, "time_unit: i\n");
	check_has(text, "time=0\nmem_heap_B=3001\n");
	check_has(text, "time=1\nmem_heap_B=5001\n");
	free(text);
	snapshots_close(&snapshots);
}

static unsigned long bytes_at(const char *text, unsigned int snapshot)
{
	char wanted[32];

	snprintf(wanted, sizeof(wanted), "snapshot=%u\n", snapshot);
	const char *at = strstr(text, wanted);
	CHECK(at && (at = strstr(at, "mem_heap_B=")));
	return strtoul(at + strlen("mem_heap_B="), NULL, 10);
}

/*
 * One kilobyte each: from the start, evenly all the time, in a burst in the middle, and at the end.
 */
UNIT_TEST(one_file_tells_when_things_were_allocated)
{
	const struct render_options options = {.type = INUSE_SPACE};
	struct profile profile = sample_open();

	profile.meta.duration_ns = 49 * SECOND; /* so that the points are whole seconds */
	sample_stack(&profile, "main;start", 1, 1000);
	sample_stack(&profile, "main;evenly", 1000, 1);
	sample_stack(&profile, "main;burst", 1, 1000);
	sample_stack(&profile, "main;end", 1, 1000);
	for (size_t i = 0; i < 4; i++) {
		static const double mean[] = {0, 24.5e9, 24.5e9, 49e9};

		profile.row[i].inuse_ns = (double)profile.row[i].inuse_count * mean[i];
	}
	profile.row[2].first_ns = 24 * SECOND;
	profile.row[2].last_ns = 25 * SECOND;
	char *text = rendered("massif", &profile, &options, 0);
	CHECK_EQ(bytes_at(text, 0), 1000);
	CHECK_EQ(bytes_at(text, 7), 1143);
	CHECK_EQ(bytes_at(text, 24), 1490);
	CHECK_EQ(bytes_at(text, 25), 2510);
	CHECK_EQ(bytes_at(text, 48), 2980);
	CHECK_EQ(bytes_at(text, 49), 4000);
	check_has(text, "time=49000\nmem_heap_B=4000\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_"
			"tree=peak\nn4: 4000 (");
	CHECK(!strstr(text, "snapshot=50"));
	free(text);
	profile_close(&profile);
}

UNIT_TEST(one_file_that_tells_no_times)
{
	const struct render_options options = {.type = INUSE_SPACE};
	struct profile profile = sample_open();

	sample_stack(&profile, "main;start", 1, 1000);
	char *text = rendered("massif", &profile, &options, 0);
	CHECK_EQ(bytes_at(text, 0), 1000);
	CHECK(!strstr(text, "snapshot=1"));
	check_has(text, "time=10500\n");
	free(text);
	profile_close(&profile);
}

/*
 * However deep the stacks are, the tree ends somewhere: what is beyond belongs to the last call
 * that is shown.
 */
UNIT_TEST(a_stack_deeper_than_the_tree)
{
	const struct render_options options = {.type = INUSE_SPACE};
	struct profile profile = sample_open();
	uint32_t frames[5000];

	for (uint32_t i = 0; i < 5000; i++)
		CHECK_EQ(profile_frame_at(&profile, 0x1000 + i, -1, &frames[i]), 0);
	sample_frames(&profile, frames, 5000, 1, 64);
	char *text = rendered("massif", &profile, &options, 0);
	check_has(text, " n0: 64 0x10C6: 0x10c6\n");
	free(text);
	profile_close(&profile);
}

UNIT_MAIN()
