/* SPDX-License-Identifier: MIT */
/* read_collapsed_test.c - stacks one a line, of one profile or of two. */
#include "read_file.h"

#include <math.h>

static const char sample[] = "main;serve request;malloc 4096\nmain;serve request;parse_[i] "
			     "12.6\n\nmain;;malloc 8\nmain 5\r\n";

UNIT_TEST(values_are_bytes_of_the_stack)
{
	struct profile profile;

	CHECK_EQ(read_string(sample, &profile), 0);
	CHECK(profile.meta.damage == NULL);
	CHECK(total_of(&profile, INUSE_SPACE) == 4096 + 13 + 8 + 5);
	CHECK(total_of(&profile, ALLOC_SPACE) == 4096 + 13 + 8 + 5);
	CHECK(profile.meta.is_scaled);
	CHECK_EQ(profile.meta.missing, PROFILE_MISSING_OBJECTS);
	CHECK_EQ(profile.stack[profile.row[0].key.stack].frame_count, 3);
	CHECK_STR(leaf_name(&profile, 0), "malloc");
	CHECK_STR(leaf_name(&profile, 1), "parse_[i]");
	CHECK_STR(profile.frame[profile.stack[profile.row[0].key.stack].frame[1]].line[0].function,
		  "serve request");
	CHECK_STR(profile.frame[profile.stack[profile.row[2].key.stack].frame[1]].line[0].function,
		  "[unknown]");
	profile_close(&profile);
}

/* Such a file counts megabytes, or shares: each line alone would be rounded to nothing. */
UNIT_TEST(fractions_add_up)
{
	struct profile profile;

	CHECK_EQ(read_string("a;b 0.4\na;b 0.4\na;b 0.4\na;c 1.4\na;d 0.3\na;e 0.3\na;f 0.3\n",
			     &profile),
		 0);
	CHECK(profile.meta.damage == NULL);
	CHECK_EQ(profile.row[0].inuse_bytes, 1); /* of 1.2 */
	CHECK_EQ(profile.row[1].inuse_bytes, 2); /* of 1.4, and what the first one lost */
	CHECK(fabs(total_of(&profile, INUSE_SPACE) - 3.5) <= 0.5);
	CHECK(fabs(total_of(&profile, ALLOC_SPACE) - 3.5) <= 0.5);
	profile_close(&profile);
	CHECK_EQ(read_string("a;b 0.4 1.2\na;b 0.4 1.2\n", &profile), 0);
	CHECK(total_of(&profile, INUSE_SPACE) == 2 - 1);
	profile_close(&profile);
}

UNIT_TEST(two_numbers_are_before_and_after)
{
	struct profile profile;

	CHECK_EQ(read_string("a;b 10 4\na;c 0 7\n", &profile), 0);
	CHECK(total_of(&profile, INUSE_SPACE) == 4 - 10 + 7);
	CHECK(estimate_total(&profile, INUSE_SPACE).base == 10);
	CHECK_STR(leaf_name(&profile, 0), "b");
	profile_close(&profile);
	/* Not in every line: then the first number belongs to the name. */
	CHECK_EQ(read_string("a;b 10 4\na;c 7\n", &profile), 0);
	CHECK(total_of(&profile, INUSE_SPACE) == 11);
	CHECK_STR(leaf_name(&profile, 0), "b 10");
	profile_close(&profile);
}

UNIT_TEST(what_is_no_stack)
{
	struct profile profile;
	char text[8192];

	CHECK_EQ(read_string("hello, world\n", &profile), -ENOEXEC);
	profile_close(&profile);
	CHECK_EQ(read_string("a;b 10\ncount\n", &profile), -ENOEXEC);
	profile_close(&profile);
	CHECK_EQ(read_string("a;b 1\x01 0\n", &profile), -ENOEXEC);
	profile_close(&profile);
	/* Further on it is damage. */
	memset(text, 0, sizeof(text));
	for (size_t length = 0; length < 4200; length += 7)
		memcpy(text + length, "a;b 10\n", 7);
	strcat(text, "garbage\na;b 10\n");
	CHECK_EQ(read_string(text, &profile), 0);
	CHECK_STR(profile.meta.damage, "damaged at line 601: not a stack with its value");
	CHECK(total_of(&profile, INUSE_SPACE) == 6010);
	profile_close(&profile);
}

/* Many writers put newlines only between lines. */
UNIT_TEST(the_last_line_may_lack_its_newline)
{
	struct profile profile;

	CHECK_EQ(read_string("main;a 10\nmain;b 300", &profile), 0);
	CHECK(total_of(&profile, INUSE_SPACE) == 310);
	CHECK_STR(profile.meta.damage,
		  "no newline ends line 2, the last: it counts, but may be cut off");
	profile_close(&profile);
}

UNIT_TEST(every_cut_is_named)
{
	for (size_t size = strlen("main;"); size < strlen(sample); size++) {
		const bool is_between = sample[size - 1] == '\n';
		struct profile profile;
		const int err = read_bytes(sample, size, &profile);

		CHECK(err == 0 || err == -EBADMSG);
		/* nothing marks the end of the file */
		CHECK((profile.meta.damage == NULL) == is_between);
		CHECK((profile.row_count > 0) == (size > strlen("main;serve request;malloc ")));
		profile_close(&profile);
	}
	check_damage_anywhere(sample, strlen(sample));
}

UNIT_MAIN()
