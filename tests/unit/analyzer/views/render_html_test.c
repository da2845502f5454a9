/* SPDX-License-Identifier: MIT */
/*
 * render_html_test.c - the HTML page as a file: its size, its data, and names that would break it.
 * What it does in a browser is for tests/integration/flame_html.
 */
#include "unit.h"

#include "pictures.h"
#include "row_history.h"

static const struct render_options in_use = {.type = INUSE_SPACE};

/* The head of each check: functions by their number in the data, and the names of the nodes. */
#define READ_PAGE                                                                   \
	PICTURE_READ_PAGE("profile")                                                \
	"nodes = data[\"nodes\"]\n"                                                 \
	"names = [data[\"names\"][i] for i in data[\"functions\"][\"name\"]]\n"     \
	"named = [names[f] if f >= 0 else (\"all\", \"(other)\")[-1 - f] for f in " \
	"nodes[\"function\"]]\n"

UNIT_TEST(data_of_the_page)
{
	struct profile profile = sample_open();

	profile.meta.stacks_complete = 3;
	profile.meta.stacks_truncated = 1;
	sample_stack(&profile, "main;serve;copy<store", 3, 1024);
	sample_stack(&profile, "main;serve", 1, 1024);
	char *text = picture_of(render_html, &profile, &in_use);
	picture_check(text, READ_PAGE
		      "assert named == [\"all\", \"main\", \"serve\", \"store\", \"copy\"], named\n"
		      "assert nodes[\"depth\"] == [0, 1, 2, 3, 4]\n"
		      "assert nodes[\"self\"] == [[0, 0, 2, 0, 6], [0, 0, 2048, 0, 6144], [0, 0, "
		      "1, 0, 3], [0, 0, 1024, 0, 3072]]\n"
		      "assert \"base\" not in nodes and \"deviation\" not in nodes\n"
		      "assert (data[\"title\"], data[\"host\"], data[\"pid\"]) == (\"server\", "
		      "\"host\", 1234)\n"
		      "assert (data[\"interval\"], data[\"duration\"], data[\"complete\"], "
		      "data[\"folded\"]) == (1, 10.5, 0.75, 0)\n"
		      "assert data[\"report\"][0] == \"heapinject: server (pid 1234) on host\"\n");
	free(text);
	profile_close(&profile);
}

/* Rounded figures still add up, however many there are; and it is said how sure they are. */
UNIT_TEST(figures_of_samples_add_up)
{
	struct profile profile = sample_open();
	char names[64], check[4096];

	profile.meta.interval = 1000;
	for (unsigned i = 0; i < 500; i++) {
		snprintf(names, sizeof(names), "main;a%u;b%u", i % 10, i);
		sample_stack(&profile, names, 1, 700);
	}
	const struct estimate total = estimate_total(&profile, INUSE_OBJECTS);
	char *text = picture_of(render_html, &profile, &in_use);
	snprintf(check, sizeof(check),
		 READ_PAGE
		 "assert abs(sum(nodes[\"self\"][2]) - %.6f) <= 0.5, sum(nodes[\"self\"][2])\n"
		 "variance = sum(d * d for d in nodes[\"deviation\"][2])\n"
		 "assert abs(variance / %.6f - 1) < 1e-3, variance\n"
		 "assert abs(max(nodes[\"unit\"][2]) / %.6f - 1) < 1e-3\n",
		 total.value, total.variance, total.unit);
	picture_check(text, check);
	free(text);
	profile_close(&profile);
}

UNIT_TEST(names_that_would_break_it)
{
	struct profile profile = sample_open();

	profile.meta.cmdline[0] = '<';
	sample_stack(&profile, "main;evil;worse", 1, 10);
	picture_rename(&profile, "evil", "</script><script>alert(1)</script>");
	picture_rename(&profile, "worse", "<!--<script>");
	sample_stack(&profile, "main;\\u003c\"\\\x01\xff", 1, 10);
	char *text = picture_of(render_html, &profile, &in_use);
	picture_check(text, READ_PAGE
		      "assert \"</script><script>alert(1)</script>\" in names, names\n"
		      "assert \"<!--<script>\" in names\n"
		      "assert chr(92) + \"u003c\" + chr(34) + chr(92) + \"??\" in names\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(comparison)
{
	struct profile new = sample_open(), old = sample_open();

	sample_stack(&new, "main;kept", 5, 10);
	sample_stack(&old, "main;kept", 2, 10);
	sample_stack(&old, "main;gone", 4, 10);
	sample_compare(&new, &old);
	char *text = picture_of(render_html, &new, &in_use);
	picture_check(text,
		      READ_PAGE "assert data[\"isComparison\"] is True\n"
				"assert named == [\"all\", \"main\", \"kept\", \"gone\"], named\n"
				"assert nodes[\"self\"][3] == [0, 0, 50, 0] and nodes[\"base\"][3] "
				"== [0, 0, 20, 40], nodes\n");
	free(text);
	profile_close(&new);
}

/*
 * Long names and many stacks: the heaviest are there, the others are counted, and the whole is what
 * it was.
 */
UNIT_TEST(large_profiles_stay_below_a_megabyte)
{
	struct profile profile = sample_open();
	char names[1000];

	for (unsigned i = 0; i < 12000; i++) {
		snprintf(names, sizeof(names), "main;a%u;b%0150u;c%0180u", i % 100, i % 4000, i);
		sample_stack(&profile, names, 2, 1024);
	}
	sample_stack(&profile, "main;heavy", 10000, 1024);
	char *text = picture_of(render_html, &profile, &in_use);
	picture_check(
		text, READ_PAGE
		"assert len(text) > 500000, len(text)\n"
		"assert sum(nodes[\"self\"][2]) == 34000, sum(nodes[\"self\"][2])\n"
		"assert data[\"folded\"] > 5000 and \"heavy\" in named and \"(other)\" in named\n");
	free(text);
	profile_close(&profile);
}

/* Ages by slices, threads, source lines, and what is folded. */
UNIT_TEST(what_is_known_of_nodes)
{
	struct profile profile = sample_open();
	uint32_t thread, part;

	profile.meta.duration_ns = 2000000000;
	sample_stack(&profile, "_start;main;keep<inlined;malloc", 0, 100);
	struct profile_row *row = &profile.row[0];
	row->first_ns = 100000000;
	for (uint64_t i = 0; i < 4; i++) {
		const uint64_t born_ns = i < 3 ? 100000000 : 1900000000;

		row_history_allocated(&profile, row, born_ns);
		row->alloc_count++;
		row->alloc_bytes += 100;
		row_history_lives(&profile, row, born_ns);
		row->inuse_count++;
		row->inuse_bytes += 100;
	}
	CHECK_EQ(thread_breakdown_thread(&profile.breakdown, "wor<ker", 7, &thread), 0);
	CHECK_EQ(thread_breakdown_of(&profile.breakdown, 0, thread, &part), 0);
	profile.breakdown.part[part] = (struct part){.row = 0,
						     .thread = thread,
						     .alloc_count = 4,
						     .alloc_bytes = 400,
						     .inuse_count = 4,
						     .inuse_bytes = 400};
	char *text = picture_of(render_html, &profile, &in_use);
	picture_check(
		text, READ_PAGE
		"folded = {named[i] for i in nodes[\"folded\"]}\n"
		"assert folded == {\"_start\", \"malloc\"}, (folded, named)\n"
		"assert nodes[\"line\"][named.index(\"keep\")] == 10, nodes[\"line\"]\n"
		"assert nodes[\"line\"][named.index(\"inlined\")] == 11, nodes[\"line\"]\n"
		"ages = data[\"ages\"]\n"
		"leaf = nodes[\"self\"][3].index(400)\n"
		"assert ages[\"bytes\"] == [300, 100] and ages[\"node\"] == [leaf, leaf], ages\n"
		"first, last = (slice * ages[\"width\"] for slice in ages[\"slice\"])\n"
		"assert first <= 0.1 < first + ages[\"width\"], ages\n"
		"assert last <= 1.9 < last + ages[\"width\"], ages\n"
		"threads = data[\"threads\"]\n"
		"assert threads[\"names\"][0] == {\"name\": \"wor\" + chr(60) + \"ker\", "
		"\"tid\": 7}, threads\n"
		"assert threads[\"inuseSpace\"] == [400] and threads[\"thread\"] == [0], threads\n"
		"assert data[\"answer\"] is not None and data[\"growing\"] is not None\n");
	free(text);
	profile_close(&profile);
}

/* Each file at the nodes of the tree of all. */
UNIT_TEST(several_profiles)
{
	struct profile profile = sample_open();
	struct profile_set set = {.total = 2};
	struct render_options options = in_use;

	for (unsigned i = 0; i < 2; i++) {
		struct profile one = sample_open();

		sample_stack(&one, "main;both", 3 + i, 100);
		sample_stack(&one, i ? "main;second" : "main;first", 1, 50);
		CHECK_EQ(profile_set_add(&set, &one, i ? "<2>.heap" : "1.heap"), 0);
		CHECK_EQ(profile_merge(&profile, &one, PROFILE_NEW), 0);
		profile_close(&one);
	}
	options.set = &set;
	options.file_count = 2;
	char *text = picture_of(render_html, &profile, &options);
	picture_check(text, READ_PAGE
		      "one, two = ({named[n]: v for n, v in zip(s[\"node\"], s[\"self\"][3])} for "
		      "s in data[\"snapshots\"])\n"
		      "assert one == {\"both\": 300, \"first\": 50}, one\n"
		      "assert two == {\"both\": 400, \"second\": 50}, two\n"
		      "assert [s[\"file\"] for s in data[\"snapshots\"]] == [\"1.heap\", chr(60) + "
		      "\"2>.heap\"], data[\"snapshots\"]\n"
		      "assert data[\"answer\"] is None and data[\"version\"] == 2\n");
	free(text);
	profile_set_close(&set);
	profile_close(&profile);
}

UNIT_TEST(nothing_to_show)
{
	struct profile profile = sample_open();
	char *text = picture_of(render_html, &profile, &in_use);

	picture_check(text, READ_PAGE "assert named == [\"all\"]\n");
	free(text);
	profile_close(&profile);
}

UNIT_MAIN()
