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

static int foreign(const char *expression)
{
	char complaint[PATTERN_COMPLAINT_MAX] = "";
	struct pattern pattern;
	const int err = pattern_open_foreign(&pattern, expression, complaint);

	CHECK_EQ(err != 0, *complaint != 0);
	CHECK_EQ(err == 0, pattern.is_set);
	pattern_close(&pattern);
	return err;
}

UNIT_TEST(what_may_cost_much_is_refused_of_strangers)
{
	char deep[2 * PATTERN_FOREIGN_DEPTH_MAX + 8], longer[PATTERN_FOREIGN_MAX + 2];

	CHECK_EQ(foreign("^(malloc|operator new(\\[\\])?|a\\{2}|(?:b.*)+)$"), 0);
	CHECK_EQ(foreign("(a{200}){200}"), -EINVAL);
	CHECK_EQ(foreign("(a*)\\1"), -EINVAL);
	CHECK_EQ(foreign("("), -EINVAL);
	memset(deep, '(', PATTERN_FOREIGN_DEPTH_MAX + 1);
	memset(deep + PATTERN_FOREIGN_DEPTH_MAX + 1, ')', PATTERN_FOREIGN_DEPTH_MAX + 1);
	deep[2 * PATTERN_FOREIGN_DEPTH_MAX + 2] = 0;
	CHECK_EQ(foreign(deep), -EINVAL);
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	CHECK_EQ(foreign(longer), -EINVAL);
	CHECK_EQ(foreign(longer + 1), 0);
}

UNIT_TEST(parameters_of_functions_are_not_compared)
{
	char complaint[PATTERN_COMPLAINT_MAX];
	struct pattern pattern;

	CHECK_EQ(pattern_open(&pattern, "^(anonymous|std::f|.*operator\\(\\))$", complaint), 0);
	CHECK(pattern_matches_function(&pattern, "std::f(int)"));
	CHECK(pattern_matches_function(&pattern, "std::f"));
	CHECK(pattern_matches_function(&pattern, "a::operator()(int) const"));
	CHECK(!pattern_matches_function(&pattern, "g(std::f)"));
	pattern_close(&pattern);
}
