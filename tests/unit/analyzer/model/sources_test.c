/* SPDX-License-Identifier: MIT */
/* sources_test.c - which files are of one session, and what follows for sums and comparisons. */
#include "sources.h"

#include <errno.h>

#include "hi_units.h"
#include "unit.h"

#define SECOND UINT64_C(1000000000)
#define START (UINT64_C(1763640000) * SECOND)

/* What a file says: its process, its session's start in seconds after START, its window in s. */
struct said {
	enum profile_side side;
	uint32_t pid;
	uint64_t start, window;
	const char *exe;
	uint8_t build_id; /* 0 = unknown */
	uint64_t ticks;
};

static void add(struct sources *sources, const struct said *said)
{
	struct profile profile;
	const char *exe = said->exe ? said->exe : "/opt/server";
	struct profile_module module = {.lo = 0x1000, .hi = 0x2000, .path = (char *)(uintptr_t)exe};
	uint32_t index;

	CHECK_EQ(profile_open(&profile), 0);
	profile.meta.version = strdup("1");
	profile.meta.host = strdup("box");
	profile.meta.comm = strdup("server");
	profile.meta.exe = strdup(exe);
	profile.meta.pid = said->pid;
	profile.meta.process_start_ticks = said->ticks;
	profile.meta.start_unix_ns = START + said->start * SECOND;
	profile.meta.duration_ns = said->window * SECOND;
	if (said->build_id) {
		module.build_id[0] = said->build_id;
		module.build_id_size = 1;
	}
	CHECK_EQ(profile_add_module(&profile, &module, &index), 0);
	CHECK_EQ(sources_add(sources, &profile, "file", said->side), 0);
	profile_close(&profile);
}

#define ADD(to, at, process, from, length, ...) \
	add(to,                                 \
	    &(struct said){                     \
		    .side = at, .pid = process, .start = from, .window = length, ##__VA_ARGS__})

/* True if the description is this text. Closes the sources. */
static void check_said(struct sources *sources, const char *wanted)
{
	double factor = 0;
	char *why = NULL, *text = NULL;

	CHECK_EQ(sources_check(sources, &factor, &why), 0);
	CHECK(!why);
	CHECK_EQ(sources_describe(sources, factor, &text), 0);
	CHECK_STR(text ? text : "", wanted);
	free(text);
	sources_close(sources);
}

/* The complaint of a comparison that is refused has this in it. Closes the sources. */
static void check_refused(struct sources *sources, const char *wanted)
{
	double factor = 0;
	char *why = NULL;

	CHECK_EQ(sources_check(sources, &factor, &why), -EINVAL);
	CHECK(why && strstr(why, wanted));
	free(why);
	sources_close(sources);
}

UNIT_TEST(a_session_is_host_process_and_start)
{
	struct sources sources = {0};

	ADD(&sources, PROFILE_NEW, 7, 0, 10);
	ADD(&sources, PROFILE_NEW, 7, 0, 20);
	ADD(&sources, PROFILE_NEW, 7, 60, 20);
	ADD(&sources, PROFILE_NEW, 8, 0, 20);
	ADD(&sources, PROFILE_NEW, 7, 60, 20, .ticks = 5);
	ADD(&sources, PROFILE_NEW, 7, 60, 20, .ticks = 6);
	ADD(&sources, PROFILE_NEW, 0, 0, 20);
	ADD(&sources, PROFILE_NEW, 0, 0, 20);
	const struct source *at = sources.source;
	CHECK(source_is_same_session(&at[0], &at[1]));
	CHECK(!source_is_same_session(&at[0], &at[2]));
	CHECK(source_is_same_process(&at[0], &at[2]));
	CHECK(!source_is_same_process(&at[0], &at[3]));
	CHECK(source_is_same_session(&at[2], &at[4])); /* an older file does not know the ticks */
	CHECK(!source_is_same_process(&at[4], &at[5]));
	CHECK(!source_is_same_session(&at[6], &at[7])); /* nothing is known of both */
	sources_close(&sources);
}

UNIT_TEST(the_last_snapshot_counts)
{
	struct sources sources = {0};

	for (uint64_t i = 1; i <= 3; i++) {
		ADD(&sources, PROFILE_NEW, 7, 0, i * 10);
		ADD(&sources, PROFILE_NEW, 7, 0, i * 10); /* as .heap and as .pb.gz */
	}
	for (size_t i = 0; i < 6; i++)
		sources.source[i].is_superseded = i != 4;
	check_said(&sources, "Files: the last of 3 snapshots of this session; --growth compares "
			     "them, --sum adds files up\n");
}

UNIT_TEST(what_is_added_up)
{
	struct sources sources = {0};

	ADD(&sources, PROFILE_NEW, 7, 0, 60);
	check_said(&sources, "");
	ADD(&sources, PROFILE_NEW, 7, 0, 60);
	ADD(&sources, PROFILE_NEW, 8, 1, 60);
	ADD(&sources, PROFILE_NEW, 9, 2, 60);
	check_said(&sources, "Files: 3 processes added up\n");
	ADD(&sources, PROFILE_NEW, 7, 0, 60);
	ADD(&sources, PROFILE_NEW, 8, 1, 60);
	ADD(&sources, PROFILE_NEW, 8, 90, 30);
	check_said(&sources, "Files: 2 processes added up in 3 sessions; windows of 30.0s to "
			     "60.0s\n");
	ADD(&sources, PROFILE_NEW, 7, 0, 60);
	ADD(&sources, PROFILE_NEW, 7, 90, 60);
	check_said(&sources, "Files: 2 sessions of one process added up\n");
	ADD(&sources, PROFILE_NEW, 0, 0, 60);
	ADD(&sources, PROFILE_NEW, 7, 90, 60);
	check_said(&sources, "Files: 2 added up\n");
	sources.adds_up = true;
	ADD(&sources, PROFILE_NEW, 7, 0, 60);
	ADD(&sources, PROFILE_NEW, 7, 0, 90);
	check_said(&sources, "Files: 2 of one session added up; windows of 60.0s to 90.0s\n"
			     "Warning: snapshots of one session are added up (--sum): each has "
			     "what those before it have, too\n");
}

UNIT_TEST(different_programs_are_not_added_up_silently)
{
	struct sources sources = {0};

	ADD(&sources, PROFILE_NEW, 7, 0, 60);
	ADD(&sources, PROFILE_NEW, 8, 0, 60, .exe = "/opt/cli\033ent");
	check_said(&sources, "Files: 2 processes added up\n"
			     "Warning: different programs are added up: server and cli?ent\n");
	ADD(&sources, PROFILE_NEW, 7, 0, 60, .build_id = 1);
	ADD(&sources, PROFILE_NEW, 8, 0, 60, .build_id = 2);
	check_said(&sources, "Files: 2 processes added up\n"
			     "Warning: the program was built differently: functions are added up "
			     "by name, addresses mean nothing\n");
	ADD(&sources, PROFILE_NEW, 7, 0, 60, .build_id = 1);
	ADD(&sources, PROFILE_NEW, 8, 0, 60, .exe = "/old/server (deleted)", .build_id = 1);
	check_said(&sources, "Files: 2 processes added up\n");
}

UNIT_TEST(snapshots_of_one_session_are_compared_over_the_time_between)
{
	struct sources sources = {0};

	ADD(&sources, PROFILE_NEW, 7, 0, 40);
	ADD(&sources, PROFILE_BASE, 7, 0, 10);
	check_said(&sources, "Compared: between 10.0s and 40.0s of the session\n");
	ADD(&sources, PROFILE_NEW, 7, 0, 10);
	ADD(&sources, PROFILE_BASE, 7, 0, 40);
	check_said(&sources, "Warning: the base is the later one: from 40.0s of the session back "
			     "to 10.0s; name the earlier file first\n");
	ADD(&sources, PROFILE_NEW, 7, 0, 40);
	ADD(&sources, PROFILE_NEW, 8, 0, 40);
	ADD(&sources, PROFILE_BASE, 7, 0, 10);
	ADD(&sources, PROFILE_BASE, 8, 0, 10);
	check_said(&sources, "Files: 2 processes added up\nBase files: 2 processes added up\n"
			     "Compared: two moments of each of 2 sessions\n");
}

UNIT_TEST(windows_of_different_length_are_not_compared_silently)
{
	struct sources sources = {0};

	ADD(&sources, PROFILE_NEW, 7, 90, 66);
	ADD(&sources, PROFILE_BASE, 7, 0, 60);
	check_said(&sources, "Compared: with another session of this process, 60.0s from "
			     "2025-11-20 12:00:00 UTC; windows of 60.0s and 66.0s, as they are\n");
	ADD(&sources, PROFILE_NEW, 7, 90, 67);
	ADD(&sources, PROFILE_BASE, 7, 0, 60);
	check_refused(&sources, "windows of 60.0s and 67.0s: the longer one has more of "
				"everything. --scale-base");
	ADD(&sources, PROFILE_NEW, 7, 90, 60);
	ADD(&sources, PROFILE_BASE, 7, 0, 67);
	check_refused(&sources, "--as-is compares them as they are");
	sources.as_is = true;
	ADD(&sources, PROFILE_NEW, 7, 90, 60);
	ADD(&sources, PROFILE_BASE, 8, 190, 67);
	check_said(&sources, "Compared: with server (pid 8) on box, 67.0s from 2025-11-20 "
			     "12:03:10 UTC, which is later; windows of 67.0s and 60.0s, as they "
			     "are\nWarning: the base has the longer window, and so more of "
			     "everything (--as-is)\n");
	ADD(&sources, PROFILE_NEW, 0, 90, 60); /* another tool's file has no window */
	ADD(&sources, PROFILE_BASE, 7, 0, 5);
	check_said(&sources, "");
}

UNIT_TEST(the_base_is_scaled_to_the_other_window)
{
	struct sources sources = {.do_scale = true};
	char *why = NULL;
	double factor = 0;

	ADD(&sources, PROFILE_NEW, 7, 90, 60);
	ADD(&sources, PROFILE_BASE, 7, 0, 10);
	CHECK_EQ(sources_check(&sources, &factor, &why), 0);
	CHECK(factor == 6);
	check_said(&sources, "Compared: with another session of this process, 10.0s from "
			     "2025-11-20 12:00:00 UTC; counted 6 times, for windows of 10.0s and "
			     "60.0s (--scale-base)\n");
	sources.do_scale = true;
	ADD(&sources, PROFILE_NEW, 7, 0, 60);
	ADD(&sources, PROFILE_BASE, 7, 0, 10);
	check_refused(&sources, "these are of one");
	sources.do_scale = true;
	ADD(&sources, PROFILE_NEW, 7, 0, 60);
	ADD(&sources, PROFILE_NEW, 8, 0, 30);
	ADD(&sources, PROFILE_BASE, 9, 0, 10);
	check_refused(&sources, "windows of one length on each side");
	sources.do_scale = true;
	ADD(&sources, PROFILE_NEW, 0, 0, 60);
	ADD(&sources, PROFILE_BASE, 9, 0, 10);
	check_refused(&sources, "say how long their windows were");
}

UNIT_TEST(other_programs_and_builds_are_named_in_a_comparison)
{
	struct sources sources = {0};

	ADD(&sources, PROFILE_NEW, 7, 0, 60);
	ADD(&sources, PROFILE_BASE, 8, 0, 60, .exe = "/opt/client");
	check_said(&sources, "Compared: with client (pid 8) on box, 60.0s from 2025-11-20 "
			     "12:00:00 UTC\n"
			     "Warning: different programs are compared: client and server\n");
	ADD(&sources, PROFILE_NEW, 7, 0, 60, .build_id = 1);
	ADD(&sources, PROFILE_BASE, 8, 0, 60, .build_id = 2);
	check_said(&sources, "Compared: with server (pid 8) on box, 60.0s from 2025-11-20 "
			     "12:00:00 UTC\n"
			     "Warning: built differently: functions are compared by name, "
			     "addresses mean nothing\n");
}

UNIT_MAIN()
