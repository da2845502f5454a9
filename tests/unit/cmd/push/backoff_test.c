/* SPDX-License-Identifier: MIT */
/* backoff: longer after each failure, never before the time that a server names. */
#include "backoff.h"

#include "unit.h"

UNIT_TEST(it_doubles_up_to_its_bound)
{
	struct backoff backoff = {0};
	uint64_t whole_ms = BACKOFF_FIRST_MS;

	for (int i = 0; i < 40; i++) {
		struct backoff same = backoff;

		CHECK_EQ(backoff_fail(&same, 0, 0), whole_ms / 2);
		CHECK_EQ(backoff_fail(&backoff, 0, UINT32_MAX), whole_ms);
		whole_ms = 2 * whole_ms < BACKOFF_MAX_MS ? 2 * whole_ms : BACKOFF_MAX_MS;
	}
	backoff_reset(&backoff);
	CHECK_EQ(backoff_fail(&backoff, 0, UINT32_MAX), BACKOFF_FIRST_MS);
}

UNIT_TEST(chance_spreads_it)
{
	struct backoff one = {.failures = 4}, other = {.failures = 4};

	CHECK(backoff_fail(&one, 0, 1u << 30) < backoff_fail(&other, 0, 3u << 30));
}

UNIT_TEST(the_time_that_a_server_names_is_kept)
{
	struct backoff backoff = {0};

	for (uint32_t random = 0; random < 10; random++)
		CHECK(backoff_fail(&backoff, 120, random << 28) >= 120000);
	CHECK(backoff_fail(&backoff, 120, UINT32_MAX) > 120000);
}

UNIT_MAIN()
