/* SPDX-License-Identifier: MIT */
/* Views and settings that go tool pprof has: tests/integration/pprof_equal compares with it. */
#include <errno.h>

#include "rendered.h"
#include "report_command_line.h"
#include "tag_frames.h"
#include "render_units.h"

static struct profile two_stacks(void)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;serve;store", 3, 1024);
	sample_stack(&profile, "main;setup;store", 1, 4096);
	return profile;
}

/* The first row's blocks by two threads, the second row's by one. */
static void add_threads(struct profile *profile)
{
	const struct part parts[] = {{.row = 0,
				      .thread = 1,
				      .alloc_count = 2,
				      .alloc_bytes = 2048,
				      .inuse_count = 1,
				      .inuse_bytes = 1024},
				     {.row = 0,
				      .thread = 2,
				      .alloc_count = 4,
				      .alloc_bytes = 4096,
				      .inuse_count = 2,
				      .inuse_bytes = 2048},
				     {.row = 1,
				      .thread = 1,
				      .alloc_count = 2,
				      .alloc_bytes = 8192,
				      .inuse_count = 1,
				      .inuse_bytes = 4096}};
	uint32_t thread, part;

	CHECK_EQ(thread_breakdown_thread(&profile->breakdown, NULL, 0, &thread), 0);
	CHECK_EQ(thread_breakdown_thread(&profile->breakdown, "one", 71, &thread), 0);
	CHECK_EQ(thread, 1);
	CHECK_EQ(thread_breakdown_thread(&profile->breakdown, "two", 72, &thread), 0);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		CHECK_EQ(thread_breakdown_of(&profile->breakdown, parts[i].row, parts[i].thread,
					     &part),
			 0);
		profile->breakdown.part[part] = parts[i];
	}
}

UNIT_TEST(tags_have_their_weights)
{
	struct profile profile = two_stacks();
	const struct render_options only_threads = {.type = INUSE_SPACE, .tagshow = "^thread"},
				    no_ids = {.type = INUSE_OBJECTS, .taghide = "_id|bytes"};

	add_threads(&profile);
	char *text = rendered("tags", &profile, &in_use, 0);
	check_has(text, " bytes: Total 7.0kB\n"
			"        4.0kB (57.14%): 4kB\n"
			"        3.0kB (42.86%): 1kB\n"
			"\n"
			" thread: Total 7.0kB\n"
			"         5.0kB (71.43%): one\n"
			"         2.0kB (28.57%): two\n"
			"\n"
			" thread_id: Total 7.0kB\n"
			"            5.0kB (71.43%): 71\n");
	free(text);
	text = rendered("tags", &profile, &only_threads, 0);
	check_has_not(text, "bytes:");
	check_has(text, "thread_id:");
	free(text);
	text = rendered("tags", &profile, &no_ids, 0);
	check_has(text,
		  " thread: Total 4.0\n         2.0 (50.00%): one\n         2.0 (50.00%): two\n");
	check_has_not(text, "thread_id");
	check_has_not(text, "No tags");
	free(text);
	profile_close(&profile);
}

/* The first row has two labels, the second one. */
static void add_labels(struct profile *profile)
{
	struct label first[] = {{.key = "request", .text = "/login\n"},
				{.key = "alignment", .number = 2048, .unit = LABEL_BYTES}},
		     second[] = {{.key = "request", .text = "/cart"}};

	CHECK_EQ(labels_add(&profile->labels, first, 2, &profile->row[0].key.labels), 0);
	CHECK_EQ(labels_add(&profile->labels, second, 1, &profile->row[1].key.labels), 0);
}

UNIT_TEST(labels_are_tags)
{
	struct profile profile = two_stacks();
	const struct tag_frames root = {.root = "request", .size = render_size};
	bool is_found;

	add_labels(&profile);
	char *text = rendered("tags", &profile, &in_use, 0);
	CHECK_STR(text, " alignment: Total 3.0kB\n"
			"            3.0kB (  100%): 2kB\n"
			"\n"
			" bytes: Total 7.0kB\n"
			"        4.0kB (57.14%): 4kB\n"
			"        3.0kB (42.86%): 1kB\n"
			"\n"
			" request: Total 7.0kB\n"
			"          4.0kB (57.14%): /cart\n"
			"          3.0kB (42.86%): /login?\n"
			"\n");
	free(text);
	text = rendered("json", &profile, &in_use, 0);
	check_has(text, "\"labels\":[{\"key\":\"alignment\",\"number\":2048,\"unit\":\"bytes\"},"
			"{\"key\":\"request\",\"text\":\"/login?\"}]");
	free(text);
	CHECK_EQ(tag_frames_add(&profile, &root, &is_found), 0);
	CHECK(is_found);
	text = rendered("collapsed", &profile, &in_use, 0);
	check_has(text, "/cart;main;setup;store 4096\n");
	check_has(text, "/login?;main;serve;store 3072\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(without_tags_the_view_says_so)
{
	struct profile profile = two_stacks();
	const struct render_options none = {.type = INUSE_SPACE, .tagshow = "color"};
	char *text = rendered("tags", &profile, &none, 0);

	CHECK_STR(text, "No tags that --tagshow and --taghide leave: --tags shows bytes, thread, "
			"thread_id and other tools' labels\n");
	free(text);
	for (size_t i = 0; i < profile.row_count; i++)
		profile.row[i].block_bytes = PROFILE_NO_LABEL;
	text = rendered("tags", &profile, &in_use, 0);
	CHECK_STR(text, "No tags: --tags shows bytes, thread, thread_id and other tools' "
			"labels\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(raw_is_what_a_file_holds)
{
	struct profile profile = two_stacks();
	char *text;

	profile.meta.duration_ns = 90500000000u;
	text = rendered("raw", &profile, &in_use, 0);
	check_has(text, "Comment: heapinject\nComment: pid 1234 (server) on host\n"
			"Comment: command line: /usr/bin/server --x\n");
	check_has(text, "PeriodType: space bytes\nPeriod: 1\n");
	check_has(text, "Duration: 1m30\nSamples:\nalloc_objects/count alloc_space/bytes "
			"inuse_objects/count inuse_space/bytes[dflt]\n");
	check_has(text, "          6       6144          3       3072: 3 2 1 \n"
			"                bytes:[1024 bytes]\n"
			"          2       8192          1       4096: 3 4 1 \n"
			"                bytes:[4096 bytes]\n"
			"Locations\n"
			"     1: 0x");
	check_has(text, " serve src/file.c:10 s=0\n");
	check_has(text, "\nMappings\n");
	free(text);
	text = rendered("comments", &profile, &in_use, 0);
	check_has(text, "every allocation counted: exact\n");
	check_has_not(text, "Comment:");
	free(text);
	profile.meta.comments = strdup("of a stranger\n");
	text = rendered("comments", &profile, &in_use, 0);
	CHECK_STR(text, "of a stranger\n");
	free(text);
	profile_close(&profile);
}

/* A file of another tool says nothing of a process, and may hold differences. */
UNIT_TEST(raw_has_nothing_that_is_not_known)
{
	struct profile profile, base;
	char *text;

	CHECK_EQ(profile_open(&profile), 0);
	CHECK_EQ(profile_open(&base), 0);
	profile.meta.interval = base.meta.interval = 1;
	sample_stack(&profile, "main;a", 1, 64);
	sample_stack(&base, "main;b", 1, 64);
	sample_compare(&profile, &base);
	text = rendered("raw", &profile, &in_use, 0);
	check_has(text, "Comment: heapinject\nComment: every");
	check_has(text, "pprof::base:[true]");
	free(text);
	memset(profile.meta.base_changes, 0, sizeof(profile.meta.base_changes));
	profile.meta.is_difference = true;
	text = rendered("raw", &profile, &in_use, 0);
	check_has(text, "         -1        -64");
	check_has_not(text, "pprof::base");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(a_function_of_a_file_is_a_row)
{
	struct profile profile = two_stacks();

	profile.meta.granularity = PROFILE_FILEFUNCTIONS;
	char *text = rendered("text", &profile, &in_use, 0);
	check_has(text, "       7kB   100%   100%        7kB   100%  store src/file.c\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(figures_are_divided_and_share_a_unit)
{
	struct profile profile = two_stacks();
	const struct render_options raw = {.type = INUSE_SPACE, .raw = true};
	char *text;

	render_divide_by(7);
	text = rendered("text", &profile, &raw, 0);
	check_has(text, "         0     0%   100%       585B 57.14%  setup");
	free(text);
	render_divide_by(1);
	sample_stack(&profile, "main;big", 2, 1 << 20);
	CHECK_EQ(render_use_unit("minimum"), 0);
	text = rendered("text", &profile,
			&(struct render_options){.type = INUSE_SPACE, .raw = true, .no_trim = true},
			0);
	check_has(text, "    2048kB 99.66%");
	free(text);
	CHECK_EQ(render_use_unit("auto"), 0);
	profile_close(&profile);
}

/* By objects allocated, twice as many as are in use; whole numbers, as in pprof. */
UNIT_TEST(means_are_of_what_was_allocated)
{
	struct profile profile = two_stacks();
	const struct render_options raw = {.type = INUSE_SPACE, .raw = true},
				    tree = {.type = INUSE_SPACE, .call_tree = true};
	char *text;

	sample_stack(&profile, "main;odd", 1, 35);
	sample_stack(&profile, "main;odd", 1, 36);
	profile.meta.is_mean = true;
	text = rendered("text", &profile, &raw, 0);
	check_has(text, "Showing nodes accounting for 913B, 151.41% of 603B total\n");
	check_has(text, "      896B 148.59% 148.59%       896B 148.59%  store");
	check_has(text, "         0     0% 151.41%       512B 84.91%  serve");
	check_has(text, "       17B  2.82% 151.41%        17B  2.82%  odd");
	free(text);
	text = rendered("peek", &profile,
			&(struct render_options){.type = INUSE_SPACE, .argument = "setup"}, 0);
	check_has(text, "                                            2kB   100% |   main\n");
	free(text);
	text = rendered("traces", &profile, &in_use, 0);
	check_has(text, "      512B   store\n");
	free(text);
	text = rendered("dot", &profile, &in_use, 0);
	check_has(text, "label=\"store\\n896B (148.59%)\"");
	free(text);
	text = rendered("dot", &profile, &tree, 0);
	check_has(text, "label=\"store\\n2kB (339.64%)\"");
	check_has(text, "label=\"store\\n512B (84.91%)\"");
	check_has(text, "label=\" 512B\"");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(what_is_below_zero_is_left_out)
{
	struct profile profile = sample_open(), base = sample_open();
	const struct render_options dropping = {
		.type = INUSE_SPACE, .raw = true, .drop_negative = true};

	sample_stack(&profile, "main;more", 9, 1024);
	sample_stack(&base, "main;less", 2, 1024);
	CHECK_EQ(profile_merge(&profile, &base, PROFILE_BASE), 0);
	char *text = rendered("text", &profile, &dropping, 0);
	check_has(text, "  more");
	check_has(text, "  main");
	check_has_not(text, "  less");
	free(text);
	profile_close(&base);
	profile_close(&profile);
}

UNIT_TEST(what_cancels_out_is_none_of_the_heaviest)
{
	struct profile profile = sample_open(), base = sample_open();
	const struct render_options two = {.type = INUSE_SPACE, .limit = 2};

	sample_stack(&profile, "middle;more", 4, 1024);
	sample_stack(&profile, "few", 1, 16);
	sample_stack(&base, "middle;less", 4, 1024);
	CHECK_EQ(profile_merge(&profile, &base, PROFILE_BASE), 0);
	char *text = rendered("tree", &profile, &two, 0);
	check_has(text, "| more\n");
	check_has(text, "| less\n");
	check_has_not(text, "middle");
	free(text);
	profile_close(&base);
	profile_close(&profile);
}

UNIT_TEST(totals_are_made_equal)
{
	struct profile profile = sample_open(), base = sample_open();

	sample_stack(&profile, "main;a", 8, 1024);
	sample_stack(&profile, "main;b", 8, 1024);
	sample_stack(&base, "main;a", 4, 1024);
	CHECK_EQ(profile_merge(&profile, &base, PROFILE_BASE), 0);
	estimate_normalize(&profile);
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
		CHECK_EQ(estimate_total(&profile, (enum sample_type)type).value, 0);
	CHECK_EQ(estimate_of(&profile, &profile.row[0], INUSE_SPACE).value, 2048);
	profile_close(&base);
	profile_close(&profile);
}

UNIT_TEST(a_tree_has_a_box_for_each_way)
{
	struct profile profile = two_stacks();
	const struct render_options tree = {.type = INUSE_SPACE, .call_tree = true},
				    two = {.type = INUSE_SPACE, .call_tree = true, .limit = 3};

	char *text = rendered("dot", &profile, &tree, 0);
	check_has(text, "label=\"store\\n4kB (57.14%)\"");
	check_has(text, "label=\"store\\n3kB (42.86%)\"");
	free(text);
	text = rendered("dot", &profile, &in_use, 0);
	check_has(text, "label=\"store\\n7kB (100%)\"");
	free(text);
	text = rendered("dot", &profile, &two, 0);
	check_has(text, "label=\"store\\n4kB (57.14%)\"");
	check_has_not(text, "3kB");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(tags_become_frames)
{
	struct profile profile = two_stacks();
	const struct tag_frames tags = {
		.root = "thread,thread_id", .leaf = "bytes,none", .size = render_size};
	bool is_found;

	add_threads(&profile);
	CHECK_EQ(tag_frames_add(&profile, &tags, &is_found), 0);
	CHECK(is_found);
	CHECK_EQ(profile.row_count, 3);
	CHECK_EQ(profile.row[0].inuse_bytes, 1024);
	CHECK_EQ(profile.row[2].inuse_bytes, 2048);
	char *text = rendered("collapsed", &profile, &in_use, 0);
	check_has(text, "one;71;main;serve;store;1kB;<unknown> 1024\n");
	check_has(text, "two;72;main;serve;store;1kB;<unknown> 2048\n");
	check_has(text, "one;71;main;setup;store;4kB;<unknown> 4096\n");
	free(text);
	profile_close(&profile);
}

static struct report_options *parsed(int err, int argc, const char *const *argv)
{
	struct report_options *options = malloc(sizeof(*options));

	CHECK(options);
	CHECK_EQ(report_options_parse(argc, (char **)(uintptr_t)argv, options), err);
	return options;
}
#define PARSED(err, ...)                                                                \
	parsed(err, (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)), \
	       (const char *[]){__VA_ARGS__, NULL})

UNIT_TEST(options_are_those_of_pprof)
{
	struct report_options *options = PARSED(0, "report", "-raw", "a.heap");

	CHECK_STR(options->renderer->name, "raw");
	free(options);
	options = PARSED(0, "report", "-raw", "--text", "a.heap");
	CHECK_STR(options->renderer->name, "text");
	CHECK(options->render.raw);
	free(options);
	options =
		PARSED(0, "report", "-tree", "-raw", "-nodecount=-2", "-sample_index=1", "a.heap");
	CHECK_STR(options->renderer->name, "tree");
	CHECK(options->render.raw && options->render.limit == UINT32_MAX && options->has_type);
	CHECK_EQ(options->render.type, ALLOC_SPACE);
	free(options);
	options = PARSED(0, "report", "-nodecount=-1", "-granularity=filefunctions", "-call_tree",
			 "-drop_negative", "-tagroot=thread", "a.heap");
	CHECK_EQ(options->render.limit, 0);
	CHECK_EQ(options->filter.granularity, PROFILE_FILEFUNCTIONS);
	CHECK(options->render.call_tree && options->render.drop_negative && !options->has_type);
	CHECK_STR(options->filter.tagroot, "thread");
	free(options);
	free(PARSED(-EINVAL, "report", "-divide_by=0", "a.heap"));
	free(PARSED(-EINVAL, "report", "-tagshow=(", "a.heap"));
	free(PARSED(-EINVAL, "report", "-normalize", "a.heap"));
}

UNIT_MAIN()
