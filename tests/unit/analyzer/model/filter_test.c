/* SPDX-License-Identifier: MIT */
/*
 * filter_test.c - each filter on a profile whose stacks are known; what is left is told as
 * collapsed stacks.
 */
#include "unit.h"

#include <errno.h>

#include "estimate.h"
#include "filter.h"
#include "filter_names.h"
#include "render_formats.h"
#include "sample_profile.h"
#include "percent_base.h"

/* A file for each function: where it is not src/file.c. */
static void set_file(struct profile *profile, const char *function, const char *file)
{
	for (size_t i = 0; i < profile->frame_count; i++) {
		for (size_t k = 0; k < profile->frame[i].line_count; k++) {
			struct profile_line *line = &profile->frame[i].line[k];

			if (strcmp(line->function, function) != 0)
				continue;
			free(line->file);
			line->file = strdup(file);
		}
	}
}

static struct profile server(void)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;serve;parse;copy<store", 3, 1000);
	sample_stack(&profile, "main;serve;reply", 2, 100);
	sample_stack(&profile, "main;cache;store", 1, 5000);
	sample_stack(&profile, "main;cache;operator new", 1, 10);
	set_file(&profile, "cache", "/build/lib/cache.c");
	return profile;
}

/*
 * The stacks that are left, in one text; unmatched: the filters that must be said to match nothing.
 */
static char *filtered(const struct profile *profile, const struct filter_options *options,
		      unsigned int unmatched)
{
	const struct render_options in_use = {.type = INUSE_SPACE};
	struct profile left;
	unsigned int bits;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(out);
	CHECK_EQ(filter_profile(profile, options, &left, &bits), 0);
	CHECK_EQ(bits, unmatched);
	CHECK_EQ(render_collapsed(&left, &in_use, out), 0);
	fclose(out);
	profile_close(&left);
	return text;
}

static void check_left_of(const struct profile *profile, const struct filter_options *options,
			  unsigned int unmatched, const char *expected)
{
	char *text = filtered(profile, options, unmatched);

	CHECK_STR(text, expected);
	free(text);
}

static void check_left(const struct filter_options *options, unsigned int unmatched,
		       const char *expected)
{
	struct profile profile = server();

	check_left_of(&profile, options, unmatched, expected);
	profile_close(&profile);
}

#define FILTER(kind, expression) \
	(&(struct filter_options){.text = {[FILTER_##kind] = (expression)}})
#define NOTHING(kind) (1u << FILTER_##kind)

UNIT_TEST(nothing_asked_for)
{
	CHECK(filter_is_idle(&(struct filter_options){0}));
	CHECK(!filter_is_idle(FILTER(HIDE, "a")));
	check_left(&(struct filter_options){0}, 0,
		   "main;serve;parse;store;copy 3000\nmain;serve;reply 200\nmain;cache "
		   "10\nmain;cache;store 5000\n");
}

UNIT_TEST(focus)
{
	check_left(FILTER(FOCUS, "^store$"), 0,
		   "main;serve;parse;store;copy 3000\nmain;cache;store 5000\n");
	check_left(FILTER(FOCUS, "cache\\.c"), 0, "main;cache 10\nmain;cache;store 5000\n");
	check_left(FILTER(FOCUS, "copy|reply"), 0,
		   "main;serve;parse;store;copy 3000\nmain;serve;reply 200\n");
	check_left(FILTER(FOCUS, "no such function"), NOTHING(FOCUS), "");
	/* No view shows it where it stands, at the end. */
	check_left(FILTER(FOCUS, "operator new"), NOTHING(FOCUS), "");
}

UNIT_TEST(ignore)
{
	check_left(FILTER(IGNORE, "store"), 0, "main;serve;reply 200\nmain;cache 10\n");
	check_left(FILTER(IGNORE, "main"), 0, "");
	check_left(
		&(struct filter_options){
			.text = {[FILTER_FOCUS] = "serve", [FILTER_IGNORE] = "parse"}},
		0, "main;serve;reply 200\n");
	check_left(FILTER(IGNORE, "x{3}"), NOTHING(IGNORE),
		   "main;serve;parse;store;copy 3000\nmain;serve;reply 200\nmain;cache "
		   "10\nmain;cache;store 5000\n");
}

UNIT_TEST(hide)
{
	check_left(FILTER(HIDE, "^(serve|store)$"), 0,
		   "main;parse;copy 3000\nmain;reply 200\nmain;cache 5010\n");
	check_left(FILTER(HIDE, "copy|main"), 0,
		   "serve;parse;store 3000\nserve;reply 200\ncache 10\ncache;store 5000\n");
	/* A stack of which nothing is left is left out. */
	check_left(FILTER(HIDE, "main|cache|store"), 0, "serve;parse;copy 3000\nserve;reply 200\n");
	/* What is hidden can still be focused on. */
	check_left(
		&(struct filter_options){.text = {[FILTER_FOCUS] = "copy", [FILTER_HIDE] = "copy"}},
		0, "main;serve;parse;store 3000\n");
}

UNIT_TEST(show)
{
	check_left(FILTER(SHOW, "serve|store"), 0, "store 5000\nserve 200\nserve;store 3000\n");
	check_left(FILTER(SHOW, "nothing"), NOTHING(SHOW), "");
}

UNIT_TEST(show_from)
{
	check_left(FILTER(SHOW_FROM, "serve|store"), 0,
		   "store 5000\nserve;parse;store;copy 3000\nserve;reply 200\n");
	check_left(FILTER(SHOW_FROM, "copy"), 0, "copy 3000\n");
}

UNIT_TEST(prune_from)
{
	check_left(FILTER(PRUNE_FROM, "^(serve|store)$"), 0,
		   "main;serve 200\nmain;serve;parse;store 3000\nmain;cache 10\nmain;cache;store "
		   "5000\n");
	/* By function only, and the innermost one. */
	check_left(FILTER(PRUNE_FROM, "cache\\.c"), NOTHING(PRUNE_FROM),
		   "main;serve;parse;store;copy 3000\nmain;serve;reply 200\nmain;cache "
		   "10\nmain;cache;store 5000\n");
}

/* pprof looks at names without parameters, and takes a Go method's receiver for some. */
UNIT_TEST(prune_from_looks_at_names_up_to_a_parenthesis)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;main.(*shop).add;alloc", 1, 10);
	sample_stack(&profile, "main;(anonymous namespace)::add(int);alloc", 1, 20);
	sample_stack(&profile, "main;f::operator()(int);alloc", 1, 40);
	check_left_of(&profile, FILTER(PRUNE_FROM, "add|operator"), 0,
		      "main;main.(*shop).add;alloc 10\nmain;(anonymous namespace)::add(int) 20\n"
		      "main;f::operator()(int) 40\n");
	check_left_of(&profile, FILTER(PRUNE_FROM, "int|shop"), NOTHING(PRUNE_FROM),
		      "main;main.(*shop).add;alloc 10\n"
		      "main;(anonymous namespace)::add(int);alloc 20\n"
		      "main;f::operator()(int);alloc 40\n");
	profile_close(&profile);
}

UNIT_TEST(recursion)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "a;b;c;b;d", 1, 10);
	char *text = filtered(&profile, FILTER(SHOW_FROM, "b"), 0);
	CHECK_STR(text, "b;c;b;d 10\n");
	free(text);
	text = filtered(&profile, FILTER(PRUNE_FROM, "b"), 0);
	CHECK_STR(text, "a;b;c;b 10\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(percentages_stay_those_of_the_whole)
{
	struct profile profile = server(), left;
	unsigned int unmatched;

	CHECK_EQ(percent_base_set(&profile, PERCENT_BASE_CHANGES), 0);
	CHECK_EQ(filter_profile(&profile, FILTER(FOCUS, "reply"), &left, &unmatched), 0);
	CHECK_EQ(left.meta.percent_base[INUSE_SPACE], 8210);
	CHECK_EQ(estimate_total(&left, INUSE_SPACE).value, 200);
	CHECK_STR(left.meta.filters, "   focus=reply\n");
	CHECK_STR(left.meta.comm, "server");
	CHECK_EQ(profile.row_count, 4); /* as it was */
	profile_close(&left);
	profile_close(&profile);
}

/* What the percentages of in-use space are of, relative to what passes. */
static double relative_percent_base(const struct profile *profile, enum percent_base_of of,
				    enum filter_kind kind, const char *expression)
{
	struct filter_options options = {.relative = true, .percent_base = of};
	struct profile left;
	unsigned int unmatched;

	options.text[kind] = expression;
	CHECK_EQ(filter_profile(profile, &options, &left, &unmatched), 0);
	const double whole = left.meta.percent_base[INUSE_SPACE];
	profile_close(&left);
	return whole;
}

UNIT_TEST(relative_percentages)
{
	struct profile profile = server();

	CHECK_EQ(percent_base_set(&profile, PERCENT_BASE_CHANGES), 0);
	CHECK_EQ(relative_percent_base(&profile, PERCENT_BASE_CHANGES, FILTER_FOCUS, "reply"), 200);
	CHECK_EQ(relative_percent_base(&profile, PERCENT_BASE_CHANGES, FILTER_IGNORE, "reply"),
		 8010);
	CHECK_EQ(relative_percent_base(&profile, PERCENT_BASE_CHANGES, FILTER_HIDE, "main"), 8210);
	CHECK_EQ(relative_percent_base(&profile, PERCENT_BASE_CHANGES, FILTER_SHOW_FROM, "cache"),
		 5010);
	CHECK_EQ(relative_percent_base(&profile, PERCENT_BASE_CHANGES, FILTER_TAGFOCUS, "1000b"),
		 3000);
	profile_close(&profile);
}

/*
 * 400 bytes less by one stack, 500 more by another: 900 of change, also where the filter makes one
 * stack of the two.
 */
UNIT_TEST(relative_percentages_of_a_comparison)
{
	struct profile profile = sample_open(), base = sample_open();

	sample_stack(&profile, "idle", 3, 100);
	sample_stack(&profile, "main;serve;read", 5, 100);
	sample_stack(&profile, "main;cache", 9, 100);
	sample_stack(&base, "main;serve;write", 4, 100);
	sample_stack(&base, "main;cache", 2, 100);
	sample_compare(&profile, &base);
	CHECK_EQ(relative_percent_base(&profile, PERCENT_BASE_CHANGES, FILTER_FOCUS, "serve"), 900);
	CHECK_EQ(relative_percent_base(&profile, PERCENT_BASE_CHANGES, FILTER_HIDE,
				       "idle|read|write"),
		 1600);
	CHECK_EQ(relative_percent_base(&profile, PERCENT_BASE_BASE, FILTER_FOCUS, "serve"), 400);
	/* the base has nothing of it */
	CHECK_EQ(relative_percent_base(&profile, PERCENT_BASE_BASE, FILTER_FOCUS, "read"), 500);
	profile_close(&profile);
}

UNIT_TEST(sizes)
{
	check_left(FILTER(TAGFOCUS, "100b:1000b"), 0,
		   "main;serve;parse;store;copy 3000\nmain;serve;reply 200\n");
	check_left(FILTER(TAGFOCUS, "bytes=2kb:"), 0, "main;cache;store 5000\n");
	check_left(FILTER(TAGFOCUS, ":100"), 0, "main;serve;reply 200\nmain;cache 10\n");
	check_left(FILTER(TAGFOCUS, "1000b"), 0, "main;serve;parse;store;copy 3000\n");
	check_left(FILTER(TAGIGNORE, ":1kB"), 0, "main;cache;store 5000\n");
	check_left(FILTER(TAGFOCUS, "1mb:"), NOTHING(TAGFOCUS), "");
}

/* What the file says of the blocks counts, and not the mean of its estimates. */
UNIT_TEST(sizes_by_label)
{
	struct profile profile = server();

	for (size_t i = 0; i < profile.row_count; i++)
		profile.row[i].block_bytes = i == 1 ? 77 : PROFILE_NO_LABEL;
	check_left_of(&profile, FILTER(TAGFOCUS, "77b"), 0, "main;serve;reply 200\n");
	check_left_of(&profile, FILTER(TAGFOCUS, ":100"), 0,
		      "main;serve;reply 200\nmain;cache 10\n");
	check_left_of(&profile, FILTER(TAGFOCUS, "100b"), NOTHING(TAGFOCUS), "");
	profile_close(&profile);
}

/* Half of the first row is one thread's, half another's; the other rows are nobody's. */
static void divide(struct profile *profile)
{
	uint32_t thread[3] = {0}, part;

	CHECK_EQ(thread_breakdown_thread(&profile->breakdown, "worker", 11, &thread[1]), 0);
	CHECK_EQ(thread_breakdown_thread(&profile->breakdown, "io-1", 12, &thread[2]), 0);
	for (uint32_t row = 0; row < profile->row_count; row++) {
		for (uint32_t i = row ? 0 : 1; i < (row ? 1 : 3); i++) {
			const uint64_t share = row ? 1 : 2;

			CHECK_EQ(thread_breakdown_of(&profile->breakdown, row, thread[i], &part),
				 0);
			profile->breakdown.part[part].alloc_count =
				profile->row[row].alloc_count / share;
			profile->breakdown.part[part].alloc_bytes =
				profile->row[row].alloc_bytes / share;
			profile->breakdown.part[part].inuse_count =
				profile->row[row].inuse_count / share;
			profile->breakdown.part[part].inuse_bytes =
				profile->row[row].inuse_bytes / share;
		}
	}
}

UNIT_TEST(threads)
{
	struct profile profile = sample_open();
	static const struct {
		const char *tag, *left;
	} cases[] = {
		{"worker", "main;a 1000\n"},           {"thread=^io-", "main;a 1000\n"},
		{"thread_id=12", "main;a 1000\n"},     {"thread:io,thread_id:12", "main;a 1000\n"},
		{"thread=io,worker", "main;a 2000\n"}, {"thread:io,worker", ""},
	};

	sample_stack(&profile, "main;a", 20, 100);
	sample_stack(&profile, "main;b", 3, 10);
	divide(&profile);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = filtered(&profile, FILTER(TAGFOCUS, cases[i].tag),
				      *cases[i].left ? 0 : NOTHING(TAGFOCUS));
		CHECK_STR(text, cases[i].left);
		free(text);
	}
	char *text = filtered(&profile, FILTER(TAGIGNORE, "thread=worker"), 0);
	CHECK_STR(text, "main;a 1000\nmain;b 30\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(labels)
{
	struct profile profile = sample_open();
	static const struct {
		const char *tag, *left;
	} cases[] = {
		{"request=^/log", "main;a 2000\n"},
		{"request:/cart,region:eu", "main;b 30\n"},
		{"eu", "main;a 2000\nmain;b 30\n"},
		{"region=us", ""},
		{"alignment=64", "main;a 2000\n"},
		{"alignment=:4kb", "main;a 2000\nmain;b 30\n"},
		{"alignment=65:", "main;b 30\n"},
		{"64b", "main;a 2000\n"}, /* no block is so large, but a label is */
		{"alignment=6.*", ""},    /* a number is no text */
	};
	struct label first[] = {{.key = "region", .text = "eu"},
				{.key = "request", .text = "/login"},
				{.key = "alignment", .number = 64, .unit = LABEL_BYTES}},
		     second[] = {{.key = "alignment", .number = 4096, .unit = LABEL_BYTES},
				 {.key = "request", .text = "/cart"},
				 {.key = "region", .text = "eu"}};

	sample_stack(&profile, "main;a", 20, 100);
	sample_stack(&profile, "main;b", 3, 10);
	CHECK_EQ(labels_add(&profile.labels, first, 3, &profile.row[0].key.labels), 0);
	CHECK_EQ(labels_add(&profile.labels, second, 3, &profile.row[1].key.labels), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = filtered(&profile, FILTER(TAGFOCUS, cases[i].tag),
				      *cases[i].left ? 0 : NOTHING(TAGFOCUS));
		CHECK_STR(text, cases[i].left);
		free(text);
	}
	char *text = filtered(&profile, FILTER(TAGIGNORE, "request=cart"), 0);
	CHECK_STR(text, "main;a 2000\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(parts_go_with_their_rows)
{
	struct profile profile = sample_open(), left;
	unsigned int unmatched;

	sample_stack(&profile, "main;a", 20, 100);
	sample_stack(&profile, "main;b", 3, 10);
	divide(&profile);
	profile.row[0].inuse_slack = 100;
	CHECK_EQ(filter_profile(&profile, FILTER(TAGFOCUS, "worker"), &left, &unmatched), 0);
	CHECK_EQ(left.row_count, 1);
	CHECK_EQ(left.row[0].inuse_count, 10);
	CHECK_EQ(left.row[0].inuse_slack, 50);
	CHECK_EQ(left.breakdown.count, 1);
	CHECK_EQ(left.breakdown.part[0].inuse_bytes, 1000);
	CHECK_STR(left.breakdown.thread[left.breakdown.part[0].thread].name, "worker");
	profile_close(&left);
	profile_close(&profile);
}

UNIT_TEST(granularities)
{
	check_left(&(struct filter_options){.granularity = PROFILE_FILES}, 0,
		   "src/file.c;src/file.c;src/file.c "
		   "200\nsrc/file.c;src/file.c;src/file.c;src/file.c;src/file.c 3000\n"
		   "src/file.c;/build/lib/cache.c 10\nsrc/file.c;/build/lib/cache.c;src/file.c "
		   "5000\n");
	check_left(&(struct filter_options){.text = {[FILTER_FOCUS] = "copy"},
					    .granularity = PROFILE_LINES},
		   0,
		   "main src/file.c:10;serve src/file.c:10;parse src/file.c:10;store "
		   "src/file.c:11;copy src/file.c:10 3000\n");
	check_left(&(struct filter_options){.text = {[FILTER_FOCUS] = "copy"}, .no_inlines = true},
		   0, "main;serve;parse;store 3000\n");
}

UNIT_TEST(paths)
{
	static const struct {
		const char *trim, *source, *file, *left;
	} cases[] = {
		{"/build", NULL, "/build/a.c", "a.c"},
		{"/x:/build/", NULL, "/build/lib/a.c", "lib/a.c"},
		{"/build", NULL, "/builder/a.c", "/builder/a.c"},
		{NULL, "/src/my/project", "/ci/123/project/lib/a.c", "lib/a.c"},
		{NULL, "/src/my/project", "/ci/project2/a.c", "/ci/project2/a.c"},
		{NULL, NULL, "/proc/self/cwd/a.c", "a.c"},
		{"", ":", "/a.c", "/a.c"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct filter_options options = {.trim_path = cases[i].trim,
						       .source_path = cases[i].source};
		char *file = strdup(cases[i].file);

		filter_trim_path(file, &options);
		CHECK_STR(file, cases[i].left);
		free(file);
	}
}

UNIT_TEST(what_is_wrong_is_told)
{
	char complaint[FILTER_COMPLAINT_MAX] = "";

	CHECK_EQ(filter_check(FILTER(SHOW_FROM, "a(b"), complaint), -EINVAL);
	CHECK(strstr(complaint, "--show-from: \"a(b\" is no regular expression: "));
	CHECK_EQ(filter_check(FILTER(TAGFOCUS, "fine,a[b"), complaint), -EINVAL);
	CHECK(strstr(complaint, "--tagfocus"));
	CHECK_EQ(filter_check(FILTER(TAGFOCUS, "1kb:2kb"), complaint), 0);
}

UNIT_MAIN()
