/* SPDX-License-Identifier: MIT */
/*
 * html_series_test.c - the page of growth as a file: its series, its size, and names that would
 * break it. What it does in a browser is for tests/integration/growth_html.
 */
#include "unit.h"

#include "pictures.h"

#define READ_PAGE PICTURE_READ_PAGE("profile") "data = data[\"series\"]\n"

/* A snapshot of a stack that grows by 10 blocks, one that stays, and one that comes late. */
static struct profile snapshot(unsigned number)
{
	struct profile profile = sample_open();

	profile.meta.duration_ns = (5 + 2 * (uint64_t)number) * 1000000000u;
	profile.meta.peak_inuse_bytes = 77777;
	profile.meta.peak_ns = 6500000000u;
	sample_stack(&profile, "main;serve;grow", 20 + 10 * number, 100);
	sample_stack(&profile, "main;serve;stay", 50 + number % 2, 100);
	if (number > 5)
		sample_stack(&profile, "main;late", 3, 100);
	return profile;
}

static void add(struct series *series, struct profile *profile)
{
	CHECK_EQ(series_add(series, profile, INUSE_SPACE), 0);
	profile_close(profile);
}

/* Closes the series. */
static void check_page(struct series *series, size_t limit, const char *program)
{
	const struct render_options options = {
		.type = INUSE_SPACE, .series = series, .is_page = true, .limit = limit};
	char *text = picture_of(render_growth, &(const struct profile){0}, &options);

	picture_check(text, program);
	free(text);
	series_close(series);
}

UNIT_TEST(data_of_the_page)
{
	struct series series = {.keeps_variance = true};

	for (unsigned i = 0; i < 8; i++) {
		struct profile profile = snapshot(i);
		add(&series, &profile);
	}
	check_page(&series, 0,
		   READ_PAGE
		   "assert (data[\"title\"], data[\"host\"], data[\"pid\"], data[\"command\"]) == "
		   "(\"server\", \"host\", 1234, \"/usr/bin/server --x\")\n"
		   "assert data[\"hasTimes\"] and data[\"start\"] == 1763640005 and data[\"time\"] "
		   "== [2 * i for i in range(8)], data[\"time\"]\n"
		   "assert data[\"peak\"] == {\"bytes\": 77777, \"time\": 6.5, \"isExact\": True}, "
		   "data[\"peak\"]\n"
		   "assert (data[\"snapshots\"], data[\"stackCount\"]) == (8, 3) and "
		   "data[\"kind\"] == {\"kind\": \"inuse\", \"isBytes\": True}\n"
		   "grow, late, stay = data[\"stacks\"]\n"
		   "assert grow[\"name\"] == \"grow file.c:10 < serve < main\" and "
		   "grow[\"calls\"][1] == \"serve file.c:10\", grow\n"
		   "assert grow[\"value\"] == [2000 + 1000 * i for i in range(8)] and "
		   "(grow[\"slope\"], grow[\"level\"], grow[\"verdict\"]) == (500, 2000, "
		   "\"grows\"), grow\n"
		   "assert grow[\"low\"] == 500 == grow[\"high\"] and \"deviation\" not in grow\n"
		   "assert late[\"value\"] == [0] * 6 + [300] * 2 and stay[\"verdict\"] == "
		   "\"steady\", data\n"
		   "assert data[\"total\"][\"value\"][7] == 2000 + 7000 + 5100 + 300 and "
		   "data[\"total\"][\"verdict\"] == \"grows\"\n");
}

UNIT_TEST(how_sure_figures_are)
{
	struct series series = {.keeps_variance = true};
	const struct estimate one = estimate_row(30, 3000, 1000, INUSE_SPACE);
	char check[4096];

	for (unsigned i = 0; i < 3; i++) {
		struct profile profile = sample_open();
		profile.meta.duration_ns = i;
		profile.meta.interval = 1000;
		sample_stack(&profile, "main;one", 30, 100);
		sample_stack(&profile, "main;two", 30, 100);
		add(&series, &profile);
	}
	snprintf(check, sizeof(check),
		 READ_PAGE
		 "one, total = data[\"stacks\"][0], data[\"total\"]\n"
		 "assert abs(one[\"value\"][2] - %.9g) < 1 and abs(total[\"value\"][2] - 2 * "
		 "one[\"value\"][2]) < 2\n"
		 "assert abs(one[\"deviation\"][2] ** 2 / %.9g - 1) < 1e-3 and "
		 "abs(total[\"deviation\"][2] ** 2 / %.9g - 1) < 1e-3, data\n"
		 "assert abs(one[\"unit\"] - %.9g) < 1e-3 * one[\"unit\"] and total[\"unit\"] == "
		 "one[\"unit\"]\n"
		 "assert one[\"low\"] is None and one[\"verdict\"] == \"too few files\"\n",
		 one.value, one.variance, 2 * one.variance, one.unit);
	check_page(&series, 0, check);
}

UNIT_TEST(names_that_would_break_it)
{
	struct series series = {0};

	for (unsigned i = 0; i < 2; i++) {
		struct profile profile = sample_open();
		profile.meta.comm[0] = '<';
		sample_stack(&profile, "main;evil;worse", 1 + i, 10);
		picture_rename(&profile, "evil", "</script><script>alert(1)</script>");
		picture_rename(&profile, "worse", "<!--<script>\x1b");
		free(profile.frame[0].line[0].file); /* main's */
		profile.frame[0].line[0].file = strdup("src/<\n\xff.c");
		add(&series, &profile);
	}
	check_page(&series, 0,
		   READ_PAGE "stack = data[\"stacks\"][0]\n"
			     "assert stack[\"name\"].startswith(\"<!--<script>?\"), stack\n"
			     "assert stack[\"calls\"][1:] == [\"</script><script>alert(1)</script> "
			     "file.c:10\", \"main <??.c:10\"], stack\n"
			     "assert data[\"title\"] == \"<erver\" and not data[\"hasTimes\"]\n");
}

/* More snapshots than a line has room for, more stacks than a file has. */
UNIT_TEST(large_series_stay_below_a_megabyte)
{
	struct series series = {.keeps_variance = true};
	char names[1000];

	for (unsigned i = 0; i < 250; i++) {
		struct profile profile = sample_open();
		profile.meta.duration_ns = i * UINT64_C(1000000000);
		profile.meta.interval = 1000;
		for (unsigned k = 0; k < (i < 4 ? 800 : 2); k++) {
			snprintf(names, sizeof(names), "main;a%0150u;b%0180u", k % 100, k);
			sample_stack(&profile, names, 2 + i * (k == 1), 1024);
		}
		add(&series, &profile);
	}
	check_page(&series, 800,
		   READ_PAGE "assert len(data[\"time\"]) == 240 and data[\"time\"][0] == 0 and "
			     "data[\"time\"][239] == 249, data[\"time\"]\n"
			     "assert (data[\"snapshots\"], data[\"stackCount\"]) == (250, 800)\n"
			     "assert 100 < len(data[\"stacks\"]) < 800 and len(text) > 700000, "
			     "(len(data[\"stacks\"]), len(text))\n"
			     "assert data[\"stacks\"][0][\"verdict\"] == \"grows\" and "
			     "len(data[\"stacks\"][0][\"value\"]) == 240\n");
}

UNIT_TEST(nothing_to_show)
{
	struct series series = {0};

	for (unsigned i = 0; i < 2; i++) {
		struct profile profile = sample_open();
		profile.meta.duration_ns = i;
		add(&series, &profile);
	}
	check_page(&series, 0,
		   READ_PAGE "assert data[\"stacks\"] == [] and data[\"total\"][\"value\"] == [0, "
			     "0] and data[\"peak\"] is None\n");
}

UNIT_MAIN()
