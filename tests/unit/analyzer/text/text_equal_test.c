/* SPDX-License-Identifier: MIT */
/* text_equal_test.c - a missing string equals nothing but another missing one. */
#include "text_equal.h"

#include "unit.h"

UNIT_TEST(the_same_letters_are_equal)
{
	const char one[] = "main", other[] = "main";

	CHECK(text_equal(one, one));
	CHECK(text_equal(one, other));
	CHECK(text_equal("", ""));
	CHECK(!text_equal(one, "main2"));
	CHECK(!text_equal(one, ""));
}

UNIT_TEST(a_missing_string_is_not_an_empty_one)
{
	CHECK(text_equal(NULL, NULL));
	CHECK(!text_equal(NULL, ""));
	CHECK(!text_equal("", NULL));
	CHECK(!text_equal("main", NULL));
}

UNIT_MAIN()
