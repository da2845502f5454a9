/* SPDX-License-Identifier: MIT */
/*
 * churn.c - a slow leak under churn: of sixteen records that one function allocates, one is
 * forgotten.
 */
#include "seeded.h"

static SEEDED_SITE void *seeded_leak(void)
{
	return memset(malloc(256), 1, 256);
}

static void step(int64_t ms, bool leaks)
{
	static void *record[16 * 32];

	for (size_t i = 0; i < 16; i++) {
		void **at = &record[(size_t)(ms % 32) * 16 + i];

		if (!leaks || i)
			free(*at);
		*at = seeded_leak();
	}
}

int main(int argc, char **argv)
{
	return seeded_run(argc, argv, step);
}
