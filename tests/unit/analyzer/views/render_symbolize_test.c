/* SPDX-License-Identifier: MIT */
/*
 * render_symbolize_test.c - a profile is written once more with its names, as --heap writes it,
 * unless there is nothing to look up.
 */
#include "unit.h"

#include <errno.h>

#include "render_formats.h"
#include "report_command_line.h"
#include "sample_profile.h"

typedef int render_view(const struct profile *profile, const struct render_options *options,
			FILE *out);

static const struct render_options no_options;

static char *written(render_view *render, const struct profile *profile, int err)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(out);
	CHECK_EQ(render(profile, &no_options, out), err);
	fclose(out);
	return text;
}

static void check_refused(const struct profile *profile, const char *reason)
{
	char *text = written(render_symbolize, profile, -EINVAL);

	CHECK_STR(text, "");
	if (!strstr(render_error(), reason))
		UNIT_FAIL("no \"%s\" in \"%s\"", reason, render_error());
	free(text);
}

UNIT_TEST(names_and_counts)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;leaf<inner", 3, 100);
	char *text = written(render_symbolize, &profile, 0),
	     *heap = written(render_heap, &profile, 0);
	CHECK(strncmp(text, "heap profile: ", 14) == 0);
	CHECK(strstr(text, " leaf\tsrc/file.c:10\n"));
	CHECK(strstr(text, " inner\tsrc/file.c:11\n"));
	CHECK(strstr(text, " main\tsrc/file.c:10\n"));
	CHECK(strstr(text, "     3:      300 [     6:      600] @ 0x"));
	CHECK_STR(text, heap);
	free(heap);
	free(text);
	profile_close(&profile);
}

UNIT_TEST(a_comparison_is_refused)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;leaf", 3, 100);
	profile.row[0].key.side = PROFILE_BASE;
	check_refused(&profile, "comparison");
	profile_close(&profile);
}

UNIT_TEST(names_without_addresses_are_refused)
{
	struct profile profile = sample_open();
	const struct profile_line line = {.function = (char[]){"main"}};
	uint32_t frame;

	CHECK_EQ(profile_frame_named(&profile, &line, 1, &frame), 0);
	check_refused(&profile, "no addresses");
	/* Where some have one there is something to look up. */
	CHECK_EQ(profile_frame_at(&profile, 0x1234, -1, &frame), 0);
	free(written(render_symbolize, &profile, 0));
	profile_close(&profile);
}

static int parsed(int argc, const char *const *argv)
{
	static struct report_options options;
	char *copy[16] = {NULL};

	for (int i = 0; i < argc; i++)
		copy[i] = (char *)(uintptr_t)argv[i];
	return report_options_parse(argc, copy, &options);
}

/* What is completed stays what it is otherwise. */
UNIT_TEST(command_lines_that_change_more_are_refused)
{
	static const char *const good[][6] = {{"report", "--symbolize", "a.heap"},
					      {"report", "--symbolize", "a.heap", "-o", "b.heap"},
					      {"report", "--symbolize", "a.pb.gz", "-o", "b"}};
	static const char *const bad[][6] = {
		{"report", "--symbolize", "a.heap", "b.heap"},
		{"report", "--symbolize", "a.heap", "--base", "b.heap"},
		{"diff", "--symbolize", "a.heap", "b.heap"},
		{"report", "--symbolize", "a.heap", "--focus", "x"},
		{"report", "--symbolize", "a.heap", "--lines"},
		{"report", "--symbolize", "a.heap", "-o", "b.pb.gz"}};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK_EQ(parsed(good[i][3] ? 5 : 3, good[i]), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_EQ(parsed(bad[i][4] ? 5 : 4, bad[i]), -EINVAL);
}

/* What does not fit is told, be it found at the end or in between. */
static void check_full(size_t stack_count)
{
	struct profile profile = sample_open();
	FILE *out = fopen("/dev/full", "w");

	CHECK(out);
	for (size_t i = 0; i < stack_count; i++) {
		char names[64];

		snprintf(names, sizeof(names), "main;leaf_%zu", i);
		sample_stack(&profile, names, 1, 100);
	}
	CHECK_EQ(render_symbolize(&profile, &no_options, out), -EIO);
	CHECK_STR(render_error(), "cannot write the report: No space left on device");
	fclose(out);
	profile_close(&profile);
}

UNIT_TEST(a_full_disk)
{
	check_full(1);
	check_full(5000);
}

UNIT_MAIN()
