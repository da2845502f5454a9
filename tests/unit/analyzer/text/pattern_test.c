/* SPDX-License-Identifier: MIT */
/* pattern_test.c - regular expressions in the spelling that people know from pprof. */
#include "unit.h"

#include <errno.h>

#include "pattern.h"

static bool matches(const char *expression, const char *text)
{
	char complaint[PATTERN_COMPLAINT_MAX];
	struct pattern pattern;

	CHECK_EQ(pattern_open(&pattern, expression, complaint), 0);
	const bool is_match = pattern_matches(&pattern, text);
	pattern_close(&pattern);
	return is_match;
}

UNIT_TEST(anywhere_in_the_text)
{
	CHECK(matches("b+c", "abbcd"));
	CHECK(!matches("^b", "ab"));
	CHECK(matches("x|d$", "abcd"));
	CHECK(matches("", "anything"));
	CHECK(matches("^$", NULL));
}

UNIT_TEST(spellings_of_re2)
{
	CHECK(matches("(?i)MALLOC", "my_Malloc"));
	CHECK(!matches("MALLOC", "my_malloc"));
	CHECK(matches("^(?:ab)+$", "ababab"));
	CHECK(matches("^\\d+\\D$", "123x"));
	CHECK(!matches("^\\d+$", "12x"));
	/* An escaped backslash is one, and no beginning of \d. */
	CHECK(matches("\\\\d", "a\\d"));
	CHECK(!matches("\\\\d", "7"));
	CHECK(matches("operator new\\[\\]", "operator new[]"));
}

UNIT_TEST(none_matches_nothing)
{
	CHECK(!matches(NULL, ""));
	CHECK(!matches(NULL, "a"));
}

UNIT_TEST(what_is_wrong_is_told)
{
	char complaint[PATTERN_COMPLAINT_MAX] = "";
	struct pattern pattern;

	CHECK_EQ(pattern_open(&pattern, "a(b", complaint), -EINVAL);
	CHECK(*complaint);
	CHECK(!pattern_matches(&pattern, "ab"));
	pattern_close(&pattern);
}

UNIT_MAIN()
