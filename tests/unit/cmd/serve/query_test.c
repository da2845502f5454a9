/* SPDX-License-Identifier: MIT */
/* query_test.c - what stands behind the question mark is taken as it is meant, or refused. */
#include "query.h"

#include <string.h>

#include "unit.h"

UNIT_TEST(names_of_tools_and_of_the_page)
{
	struct query query = {0};

	CHECK(!query_take(&query, "seconds", "30"));
	CHECK(!query_take(&query, "view", "1764154800"));
	CHECK(!query_take(&query, "base", "1764154740"));
	CHECK(!query_take(&query, "display_type", "tree"));
	CHECK(!query_take(&query, "sample_type", "alloc_objects"));
	CHECK(!query_take(&query, "console", "1"));
	CHECK_EQ(query.seconds, 30);
	CHECK_EQ(query.view, 1764154800);
	CHECK_EQ(query.base, 1764154740);
	CHECK_EQ(query.display, SERVE_TREE);
	CHECK(query.sample_type && strcmp(query.sample_type, "--alloc-objects") == 0);
	CHECK(query.is_text);
}

UNIT_TEST(what_others_send_is_not_looked_at)
{
	struct query query = {0};

	CHECK(!query_take(&query, "debug", "1"));
	CHECK(!query_take(&query, "gc", NULL));
	CHECK(!query_take(&query, "view", ""));
	CHECK(!query_take(&query, "base", NULL));
	CHECK(!query_take(&query, "console", NULL));
	CHECK(!query.view && !query.base && !query.is_text && !query.display);
}

UNIT_TEST(what_means_nothing_is_refused)
{
	static const char *const bad[][2] = {
		{"seconds", NULL},
		{"seconds", ""},
		{"seconds", "-1"},
		{"seconds", "3601"},
		{"seconds", "1s"},
		{"view", "0"},
		{"view", "now"},
		{"view", "../etc/passwd"},
		{"view", "1 "},
		{"view", "99999999999999999999"},
		{"base", "0x1"},
		{"display_type", "svg"},
		{"display_type", "TEXT"},
		{"sample_type", "inuse-space"},
		{"sample_type", "--text"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct query query = {0};
		const char *complaint = query_take(&query, bad[i][0], bad[i][1]);

		CHECK(complaint && complaint[strlen(complaint) - 1] == '\n');
		CHECK(!query.view && !query.base && !query.seconds && !query.display);
	}
}

UNIT_MAIN()
