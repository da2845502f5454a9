/* SPDX-License-Identifier: MIT */
/*
 * render_test.c - each report format on a small profile whose figures are known.
 */
#include "unit.h"

#include <errno.h>

#include "render.h"
#include "sample_profile.h"

static const struct render_options in_use = {.type = INUSE_SPACE};

/* The report; error: what render() must return. */
static const struct renderer *renderer_find(const char *name)
{
	const struct renderer *renderer = renderers;

	while (renderer->name && strcmp(renderer->name, name))
		renderer++;
	CHECK(renderer->name);
	return renderer;
}

static char *render(const char *format, const struct profile *profile, const struct render_options *options, int error)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(out);
	CHECK_EQ(renderer_find(format)->render(profile, options, out), error);
	fclose(out);
	return text;
}

static void check_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		UNIT_FAIL("no \"%s\" in:\n%s", part, text);
}

static void check_has_not(const char *text, const char *part)
{
	if (strstr(text, part))
		UNIT_FAIL("\"%s\" in:\n%s", part, text);
}

static struct profile small_profile(void)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;serve;copy<store", 3, 1024);
	sample_stack(&profile, "main;serve", 1, 1024);
	sample_stack(&profile, "main;tiny", 1, 8);
	return profile;
}

UNIT_TEST(text_table)
{
	struct profile profile = small_profile();
	char *text = render("text", &profile, &in_use, 0);

	check_has(text, "heapinject: server (pid 1234) on host\nCommand: /usr/bin/server --x\n"
			"Window: 10.5s from 2025-11-20 12:00:00 UTC, every allocation; 10 samples\n"
			"Total: 4.01kB in use\n"
			"Showing nodes accounting for 4kB, 99.81% of 4.01kB total\n"
			"Dropped 1 nodes (cum < 20.52B)\n"
			"      flat  flat%   sum%        cum   cum%\n"
			"       3kB 74.85% 74.85%        3kB 74.85%  copy (inline)  file.c:10\n"
			"       1kB 24.95% 99.81%        4kB 99.81%  serve  file.c:10\n"
			"         0     0% 99.81%     4.01kB   100%  main  file.c:10\n"
			"         0     0% 99.81%        3kB 74.85%  store  file.c:11\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_sorted_limited_and_by_objects)
{
	struct profile profile = small_profile();
	const struct render_options options = {.type = ALLOC_OBJECTS, .sort = SORT_CUM, .limit = 2};
	char *text = render("text", &profile, &options, 0);

	check_has(text, "Total: 10 objects allocated\n");
	check_has(text, "Showing top 2 nodes out of 5\n");
	check_has_not(text, "Incomplete");
	check_has(text, "         0     0%     0%         10   100%  main  file.c:10\n         2 20.00% 20.00%          8 80.00%  serve  file.c:10\n");
	check_has_not(text, "store");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_says_how_sure_it_is)
{
	struct profile profile = small_profile();

	profile.meta.interval = 512 * 1024;
	for (size_t i = 0; i < profile.row_count; i++)
		profile.row[i].key.interval = profile.meta.interval;
	profile.meta.samples = 77;
	profile.meta.stacks_complete = 3;
	profile.meta.stacks_truncated = 4;
	profile.meta.stack_ends[HI_END_DEPTH] = 1;
	profile.meta.stack_ends[HI_END_LOST] = 3;
	char *text = render("text", &profile, &in_use, 0);
	check_has(text, "one sample per 512kB; 77 samples, 42.9% complete stacks\n");
	check_has(text, "\nIncomplete stacks: 1 deeper than what is recorded, 3 lost among frame pointers\n");
	check_has(text, "(95% interval ");
	check_has_not(text, "Warning");
	check_has_not(text, "flat, 95%");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_gives_every_interval_when_asked)
{
	struct profile profile = small_profile();
	const struct render_options options = {.type = INUSE_SPACE, .intervals = true};

	char *text = render("text", &profile, &options, 0);
	check_has(text, "flat, 95%              cum, 95%");
	check_has(text, "3kB 74.85%        3kB .. 3kB               3kB .. 3kB         copy (inline)"); /* every allocation: exact */
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_tells_waste_and_ages_when_asked)
{
	struct profile profile = small_profile();
	const struct render_options options = {.type = INUSE_SPACE, .details = true};

	char *text = render("text", &profile, &options, 0);
	check_has(text, "waste   mean age   lifetime\n");
	check_has(text, " -     10.50s          -  "); /* nobody asked the allocator; all from the very start, none seen to be freed */
	check_has_not(text, "Waste:");
	free(text);
	for (size_t i = 0; i < profile.row_count; i++) {
		struct profile_row *row = &profile.row[i];

		row->inuse_slack = 8 * row->inuse_count;
		row->inuse_ns = (double)row->inuse_count * 8e9;
		row->freed_count = row->alloc_count - row->inuse_count;
		row->freed_ns = (double)row->freed_count * 1.5e6;
	}
	profile.meta.slack_samples = 1;
	text = render("text", &profile, &options, 0);
	check_has(text, " more than was requested, by the allocator's rounding\n");
	check_has(text, "      2.50s     1.50ms ");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_tells_how_the_rate_changed)
{
	struct profile profile = small_profile();

	profile.meta.interval = 4096;
	profile.meta.budget_ppm = 10000;
	for (uint64_t i = 0; i < 8; i++)
		profile_add_change(&profile.meta, &(struct profile_change){.time_ns = (i + 1) * 1500000000, .interval = 8192 << i});
	char *text = render("text", &profile, &in_use, 0);
	check_has(text, "Rate: adapted to stay within 1% of CPU time: one per 8kB from 1.5s, one per 16kB from 3.0s, ");
	check_has(text, ", and 2 more changes; each sample is weighed by its own\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_warns)
{
	struct profile profile = small_profile();

	profile.meta.dropped_frees = 5;
	profile.meta.damage = strdup("line 3\x1b[0m: no number");
	char *text = render("text", &profile, &in_use, 0);
	check_has(text, "Warning: 5 frees were lost");
	check_has(text, "damaged: line 3?[0m: no number");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_without_samples)
{
	struct profile profile = sample_open();
	char *text = render("text", &profile, &in_use, 0);

	check_has(text, "No sample was taken");
	free(text);
	sample_stack(&profile, "main", 1, 10);
	profile.row[0].inuse_count = profile.row[0].inuse_bytes = 0;
	text = render("text", &profile, &in_use, 0);
	check_has(text, "freed again");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_names_without_symbols)
{
	struct profile profile = sample_open();
	struct profile_module module = {.lo = 0x5000, .hi = 0x6000, .bias = 0x4000, .path = (char *)(uintptr_t) "/usr/lib/libthing.so.1"};
	uint32_t index, frames[2], stack, row;

	CHECK_EQ(profile_add_module(&profile, &module, &index), 0);
	CHECK_EQ(profile_frame_at(&profile, 0x5235, (int32_t)index, &frames[0]), 0);
	CHECK_EQ(profile_frame_at(&profile, 0x9999, -1, &frames[1]), 0);
	CHECK_EQ(profile_stack_of(&profile, frames, 2, 0, &stack), 0);
	CHECK_EQ(profile_row_at(&profile, &(struct profile_row_key){.stack = stack, .size_class = profile_size_class(64), .interval = profile.meta.interval},
				&row),
		 0);
	profile.row[row].inuse_count = 1;
	profile.row[row].inuse_bytes = 64;
	char *text = render("text", &profile, &in_use, 0);
	check_has(text, "  libthing.so.1+0x1234\n");
	check_has(text, "  0x9999\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(collapsed_lines_are_merged)
{
	struct profile profile = small_profile();

	sample_stack(&profile, "main;serve;copy<store", 1, 100000);
	sample_stack(&profile, "main;a:b\nc", 1, 5);
	char *text = render("collapsed", &profile, &in_use, 0);
	check_has(text, "main;serve;store;copy 103072\n");
	check_has(text, "main;serve 1024\n");
	check_has(text, "main;a:b?c 5\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(collapsed_separator_in_a_name)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;X", 1, 5);
	profile.frame[1].line[0].function[0] = ';';
	char *text = render("collapsed", &profile, &in_use, 0);
	CHECK_STR(text, "main;: 5\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(svg_picture)
{
	struct profile profile = small_profile();

	if (system("dot -V 2>/dev/null") != 0)
		SKIP("graphviz is not installed");
	sample_stack(&profile, "main;ev\"il\\N]}->&", 9, 1024);
	char *text = render("svg", &profile, &in_use, 0);
	CHECK_EQ(strncmp(text, "<?xml", 5), 0);
	check_has(text, "</svg>");
	check_has(text, ">serve<");
	check_has(text, "of 4kB (");
	check_has(text, ">heapinject: server (pid 1234) on host<");
	check_has(text, "Total: 13.01kB in use<");
	check_has(text, ">ev&quot;il\\N]}&#45;&gt;&amp;<");
	check_has_not(text, "tiny");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(svg_without_samples)
{
	struct profile profile = sample_open();

	if (system("dot -V 2>/dev/null") != 0)
		SKIP("graphviz is not installed");
	char *text = render("svg", &profile, &in_use, 0);
	check_has(text, "Nothing to show");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(svg_without_graphviz)
{
	struct profile profile = small_profile();

	setenv("PATH", "/nowhere", 1);
	free(render("svg", &profile, &in_use, -ENOENT));
	check_has(render_error(), "apt-get install graphviz");
	free(render("text", &profile, &in_use, 0));
	profile_close(&profile);
}

UNIT_TEST(full_disk)
{
	struct profile profile = small_profile();
	FILE *full = fopen("/dev/full", "w");

	if (!full)
		SKIP("no /dev/full");
	CHECK_EQ(renderer_find("text")->render(&profile, &in_use, full), -EIO);
	check_has(render_error(), "No space left");
	fclose(full);
	profile_close(&profile);
}

UNIT_MAIN()
