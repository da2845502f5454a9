/* SPDX-License-Identifier: MIT */
/* path_test.c - the last component of a path. */
#include "hi_path.h"

#include "unit.h"

UNIT_TEST(base_names)
{
	CHECK_STR(hi_base_name("/usr/lib/libc.so.6"), "libc.so.6");
	CHECK_STR(hi_base_name("src/file.c"), "file.c");
	CHECK_STR(hi_base_name("file.c"), "file.c");
	CHECK_STR(hi_base_name("/init"), "init");
	CHECK_STR(hi_base_name("lib/"), "");
	CHECK_STR(hi_base_name("/"), "");
	CHECK_STR(hi_base_name(""), "");
}

UNIT_TEST(a_base_name_is_a_part_of_its_path)
{
	const char path[] = "/opt/server";

	CHECK(hi_base_name(path) == path + 5);
	CHECK(hi_base_name(path + 5) == path + 5);
}

UNIT_MAIN()
