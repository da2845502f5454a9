/* SPDX-License-Identifier: MIT */
/* leak_looks.h: when what is left has been searched for often enough. */
#include "leak_looks.h"

#include "unit.h"

/* The look after which it suffices, if they leave so many blocks. */
static unsigned looks_of(const size_t *left, unsigned count)
{
	struct leak_looks looks = {0};

	for (unsigned i = 0; i < count; i++) {
		leak_looks_add(&looks, i ? left[i - 1] : 0, left[i]);
		if (leak_looks_suffice(&looks, left[i]))
			return looks.count;
	}
	return 0;
}

#define LOOKS_OF(...) \
	looks_of((const size_t[]){__VA_ARGS__}, sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t))

UNIT_TEST(a_process_at_rest_is_searched_twice)
{
	CHECK(LOOKS_OF(7, 7) == 2);
	CHECK(LOOKS_OF(0, 0) == 2);
	CHECK(LOOKS_OF(7, 0) == 2);
	CHECK(LOOKS_OF(7) == 0);
}

/* That one search leaves what the one before has left may be by chance. */
UNIT_TEST(a_busy_one_until_two_in_a_row_found_the_same)
{
	CHECK(LOOKS_OF(3000, 50, 6, 6, 0) == 5);
	CHECK(LOOKS_OF(3000, 50, 6, 6, 6) == 5);
	CHECK(LOOKS_OF(3000, 50, 6, 6, 5, 5, 5) == 7);
	CHECK(LOOKS_OF(50, 6, 6) == 0);
}

UNIT_TEST(not_for_ever)
{
	CHECK(LOOKS_OF(90, 80, 70, 60, 50, 40, 30, 20) == LEAK_LOOKS_MAX);
	CHECK(LOOKS_OF(90, 80, 70, 60, 50, 40, 30) == 0);
}

UNIT_TEST(what_is_left_may_be_in_use)
{
	const struct leak_looks at_rest = {.count = 2, .same = 1}, settled = {8, 2, true},
				once = {8, 1, true}, never = {8, 0, true};

	CHECK(!leak_looks_are_unsettled(&at_rest, 5));
	CHECK(!leak_looks_are_unsettled(&settled, 5));
	CHECK(leak_looks_are_unsettled(&once, 5));
	CHECK(leak_looks_are_unsettled(&never, 5));
	CHECK(!leak_looks_are_unsettled(&never, 0));
}

UNIT_MAIN()
