/* SPDX-License-Identifier: MIT */
/* code_names_test.c - code that comes and goes keeps the name that it had last. */
#include "code_names.h"

#include <errno.h>
#include <string.h>

#include "unit.h"

static const char *name_at(const struct code_names *names, uint64_t address)
{
	const char *name = code_names_find(names, address);

	return name ? name : "";
}

UNIT_TEST(the_code_that_came_last_has_the_address)
{
	struct code_names names = {0};

	CHECK_EQ(code_names_add(&names, 100, 200, "a"), 0);
	CHECK_EQ(code_names_add(&names, 300, 400, "b"), 0);
	CHECK_EQ(code_names_add(&names, 200, 300, "c"), 0);
	CHECK(!code_names_find(&names, 99));
	CHECK(!strcmp(name_at(&names, 100), "a"));
	CHECK(!strcmp(name_at(&names, 199), "a"));
	CHECK(!strcmp(name_at(&names, 200), "c"));
	CHECK(!strcmp(name_at(&names, 399), "b"));
	CHECK(!code_names_find(&names, 400));
	CHECK_EQ(code_names_add(&names, 150, 350, "d"), 0); /* all others are gone */
	CHECK_EQ(names.count, 1);
	CHECK(!code_names_find(&names, 100));
	CHECK(!strcmp(name_at(&names, 349), "d"));
	CHECK_EQ(code_names_add(&names, 5, 5, "e"), -EINVAL);
	code_names_close(&names);
}

UNIT_MAIN()
