/* SPDX-License-Identifier: MIT */
/* read_heaptrack_test.c - every allocation and free of a recording, by stack. */
#include "read_file.h"

#include "suppressions.h"

static const char sample[] = "v 10400 3\n"
			     "X ./server --port 80\n"
			     "I 1000 5e57a2\n"
			     "s b /opt/server\n"
			     "s 4 main\n"
			     "s 6 main.c\n"
			     "s 18 ns::Cache<int>::add(int)\n"
			     "s c /lib/libx.so\n"
			     "i 401000 1 2 3 a\n"
			     "i 401100 1 4 3 b 2 3 c\n"
			     "i 7f00 5\n"
			     "t 1 0\n"
			     "t 2 1\n"
			     "t 3 2\n"
			     "c 64\n"
			     "a 64 2\n"
			     "+ 0\n"
			     "+ 0\n"
			     "a 1000 3\n"
			     "+ 1\n"
			     "- 0\n"
			     "c 3e8\n"
			     "R 810\n"
			     "\n"
			     "# strings: 5\n"
			     "# ips: 3\n";

UNIT_TEST(allocations_and_frees_add_up)
{
	struct profile profile;

	CHECK_EQ(read_string(sample, &profile), 0);
	CHECK(profile.meta.damage == NULL);
	CHECK_EQ(profile.meta.interval, 1);
	CHECK(!profile.meta.is_scaled);
	CHECK_STR(profile.meta.cmdline, "./server --port 80");
	CHECK_EQ(profile.meta.duration_ns, 1000000000);
	CHECK(total_of(&profile, ALLOC_OBJECTS) == 3);
	CHECK(total_of(&profile, ALLOC_SPACE) == 200 + 4096);
	CHECK(total_of(&profile, INUSE_OBJECTS) == 2);
	CHECK(total_of(&profile, INUSE_SPACE) == 100 + 4096);
	CHECK_EQ(profile.row[0].first_ns, 100000000);
	profile_close(&profile);
}

/* heaptrack copies what the program says of its leaks. */
UNIT_TEST(suppressions_leave_out_what_is_in_use)
{
	static const struct {
		const char *line;
		double inuse, suppressed;
	} cases[] = {
		{"S 9 leak:main\n", 0, 100 + 4096},
		{"S d leak:*libx.so\n", 100, 4096},
		{"S 9 leak:nope\n", 100 + 4096, 0},
		{"S 2 #leak:main\n", 100 + 4096, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile profile;
		char text[1024];

		snprintf(text, sizeof(text), "v 10400 3\n%s%s", cases[i].line,
			 sample + strlen("v 10400 3\n"));
		CHECK_EQ(read_string(text, &profile), 0);
		CHECK(profile.meta.damage == NULL);
		CHECK(total_of(&profile, INUSE_SPACE) == cases[i].inuse);
		CHECK(total_of(&profile, ALLOC_SPACE) == 200 + 4096);
		CHECK_EQ(profile.meta.suppressed_bytes, (uint64_t)cases[i].suppressed);
		profile_close(&profile);
	}
}

UNIT_TEST(suppressions_match_as_those_of_lsan)
{
	CHECK(suppressions_matches("b", "abc"));
	CHECK(!suppressions_matches("^b", "abc"));
	CHECK(suppressions_matches("^a*c$", "abbc"));
	CHECK(!suppressions_matches("^a*c$", "abcd"));
	CHECK(suppressions_matches("c$", "cbc"));
	CHECK(!suppressions_matches("c$", "cb"));
	CHECK(suppressions_matches("*", ""));
	CHECK(!suppressions_matches("a", ""));
	CHECK(suppressions_matches("aab", "aaab"));
}

UNIT_TEST(frames_lines_and_modules)
{
	struct profile profile;

	CHECK_EQ(read_string(sample, &profile), 0);
	const struct profile_stack *stack = &profile.stack[profile.row[1].key.stack];
	CHECK_EQ(stack->frame_count, 3);
	const struct profile_frame *leaf = &profile.frame[stack->frame[0]],
				   *middle = &profile.frame[stack->frame[1]],
				   *root = &profile.frame[stack->frame[2]];
	CHECK_STR(leaf->line[0].function, "[libx.so]"); /* heaptrack knew no name */
	CHECK_EQ(middle->address, 0x401101);
	CHECK_EQ(middle->line_count, 2);
	CHECK_STR(middle->line[0].function, "ns::Cache::add");
	CHECK_STR(middle->line[0].system_name, "ns::Cache<int>::add(int)");
	CHECK_EQ(middle->line[0].line, 0xb);
	CHECK_STR(middle->line[1].function, "main");
	CHECK_STR(root->line[0].file, "main.c");
	CHECK_STR(profile.module[root->module].path, "/opt/server");
	CHECK(profile.module[root->module].lo <= 0x401000 &&
	      profile.module[root->module].hi > 0x401100);
	profile_close(&profile);
}

UNIT_TEST(what_refers_to_nothing_is_damage)
{
	static const char *const lines[] = {"t 4 0", "t 1 9", "a 10 9", "a zz 1", "+ 5", "- 1",
					    "- 7",   "i",     "s zz",   "c",      "?"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char text[1024];
		struct profile profile;

		snprintf(text, sizeof(text),
			 "v 10400 3\ns 4 main\ni 100 0 1 0 0\nt 1 0\na 10 1\na 8 1\n+ 0\n%s\n+ "
			 "0\n# strings: 1\n# ips: 1\n",
			 lines[i]);
		CHECK_EQ(read_string(text, &profile), 0);
		CHECK(profile.meta.damage &&
		      strncmp(profile.meta.damage, "damaged at line 8: ", 19) == 0);
		CHECK(total_of(&profile, INUSE_SPACE) == 32);
		profile_close(&profile);
	}
}

UNIT_TEST(other_recordings_are_refused)
{
	struct profile profile;

	CHECK_EQ(read_string("v 10500 4\nX a\n", &profile), -EBADMSG);
	CHECK(strstr(profile.meta.damage, "format 4") != NULL);
	profile_close(&profile);
	CHECK_EQ(read_string("v 10400 3\nx 9 /opt/server\nm 1 0\n", &profile), -EBADMSG);
	CHECK(strstr(profile.meta.damage, "--interpret") != NULL);
	profile_close(&profile);
}

UNIT_TEST(every_cut_is_named)
{
	check_cuts(sample, strlen(sample) - strlen("# ips: 3\n"),
		   (size_t)(strstr(sample, "+ 0") + 4 - sample));
	check_damage_anywhere(sample, strlen(sample));
}

UNIT_MAIN()
