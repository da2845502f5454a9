/* SPDX-License-Identifier: MIT */
/*
 * render_test.c - each report format on a small profile whose figures are known.
 */
#include <errno.h>
#include <fcntl.h>

#include "filter.h"
#include "render_header.h"
#include "rendered.h"
#include "percent_base.h"

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
	char *text = rendered("text", &profile, &in_use, 0);

	check_has(text, "heapinject: server (pid 1234) on host: /usr/bin/server --x\n"
			"Window: 10.5s from 2025-11-20 12:00:00 UTC, every allocation; 10 samples\n"
			"Total: 4.01kB in use\n"
			"Showing nodes accounting for 4kB, 99.81% of 4.01kB total\n"
			"Dropped 1 node (cum <= 20B)\n"
			"      flat  flat%   sum%        cum   cum%\n"
			"       3kB 74.85% 74.85%        3kB 74.85%  copy (inline)  file.c:10\n"
			"       1kB 24.95% 99.81%        4kB 99.81%  serve  file.c:10\n"
			"         0     0% 99.81%     4.01kB   100%  main  file.c:10\n"
			"         0     0% 99.81%        3kB 74.85%  store  file.c:11\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_header_is_brief)
{
	struct profile profile = small_profile();
	const struct render_options detailed = {.type = INUSE_SPACE, .details = true};

	free(profile.meta.cmdline);
	CHECK(asprintf(&profile.meta.cmdline, "server %0100d", 0) > 0);
	profile.meta.peak_inuse_bytes = 8192;
	profile.meta.slack_samples = 1;
	profile.row[0].inuse_slack = 8;
	profile.meta.stacks_complete = 100;
	profile.meta.stacks_truncated = profile.meta.stack_ends[HI_END_DEPTH] = 1;
	char *text = rendered("text", &profile, &in_use, 0);
	size_t lines = 0;
	for (const char *at = text; at < strstr(text, "      flat"); at++)
		lines += *at == '\n';
	CHECK_EQ(lines, 5);
	check_has(text, "on host: server 0000000000");
	check_has(text, "000...\nWindow: 10.5s");
	free(text);
	text = rendered("text", &profile, &detailed, 0);
	check_has(text, "0000000000000000\nWindow");
	check_has(text, "Peak: 8kB");
	check_has(text, "Waste: 8B");
	check_has(text, "Incomplete stacks: 1 deeper");
	free(text);
	profile.meta.stacks_truncated = 6;
	text = rendered("text", &profile, &in_use, 0);
	check_has(text, "Incomplete stacks: 1 deeper");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_header_of_a_file_without_a_process)
{
	struct profile profile;
	struct render_options full = in_use;
	char *text;

	CHECK_EQ(profile_open(&profile), 0);
	profile.meta.interval = 1;
	sample_stack(&profile, "main;a", 1, 64);
	text = rendered("text", &profile, &in_use, 0);
	CHECK_EQ(strncmp(text, "Window: ", 8), 0);
	free(text);
	full.details = true;
	text = rendered("text", &profile, &full, 0);
	CHECK_EQ(strncmp(text, "Window: ", 8), 0);
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_folds_allocators_and_starts)
{
	struct profile profile = sample_open();
	const struct render_options raw = {.type = INUSE_SPACE, .raw = true},
				    told = {.type = INUSE_SPACE,
					    .user_frames = {.wrapper = "^a$",
							    .no_wrapper = "zmalloc"}};

	sample_stack(&profile, "_start;__libc_start_main;main;zz;a;zmalloc", 1, 1024);
	sample_stack(&profile, "_start;__libc_start_main;main;b;zmalloc;malloc", 1, 2048);
	char *text = rendered("text", &profile, &in_use, 0);
	check_has(text, "Showing nodes accounting for 3kB, 100% of 3kB total\n"
			"Folded 4 functions of allocators, libraries and starts into callers and "
			"callees; --all-functions shows them\n"
			"      flat  flat%   sum%        cum   cum%\n"
			"       2kB 66.67% 66.67%        2kB 66.67%  b  file.c:10\n"
			"       1kB 33.33%   100%        1kB 33.33%  a  file.c:10\n"
			"         0     0%   100%        3kB   100%  main  file.c:10\n"
			"         0     0%   100%        1kB 33.33%  zz  file.c:10\n");
	free(text);
	text = rendered("text", &profile, &raw, 0);
	check_has_not(text, "Folded");
	check_has(text, "       2kB 66.67% 66.67%        2kB 66.67%  malloc  file.c:10\n"
			"       1kB 33.33%   100%        3kB   100%  zmalloc  file.c:10\n"
			"         0     0%   100%        3kB   100%  __libc_start_main  file.c:10\n"
			"         0     0%   100%        3kB   100%  _start  file.c:10\n"
			"         0     0%   100%        1kB 33.33%  a  file.c:10\n");
	free(text);
	text = rendered("text", &profile, &told, 0);
	check_has(text, "       3kB   100%   100%        3kB   100%  zmalloc  file.c:10\n");
	check_has(text, "Folded 3 functions");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_sorted_limited_and_by_objects)
{
	struct profile profile = small_profile();
	const struct render_options options = {.type = ALLOC_OBJECTS, .sort = SORT_CUM, .limit = 2};
	char *text = rendered("text", &profile, &options, 0);

	check_has(text, "Total: 10 objects allocated\n");
	check_has(text, "Showing top 2 nodes out of 5\n");
	check_has_not(text, "Incomplete");
	check_has(text, "         0     0%     0%         10   100%  main  file.c:10\n         2 "
			"20.00% 20.00%          8 80.00%  serve  file.c:10\n");
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
	char *text = rendered("text", &profile, &in_use, 0);
	check_has(text, "one sample per 512kB; 77 samples, 42.9% complete stacks\n");
	check_has(text, "\nIncomplete stacks: 1 deeper than what is recorded, 3 lost among frame "
			"pointers\n");
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

	char *text = rendered("text", &profile, &options, 0);
	check_has(text, "flat, 95%              cum, 95%");
	/* every allocation: exact */
	check_has(text,
		  "3kB 74.85%        3kB .. 3kB               3kB .. 3kB         copy (inline)");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_tells_waste_and_ages_when_asked)
{
	struct profile profile = small_profile();
	const struct render_options options = {.type = INUSE_SPACE, .details = true};

	char *text = rendered("text", &profile, &options, 0);
	check_has(text, "heapinject: server (pid 1234) on host\nCommand: /usr/bin/server --x\n");
	check_has(text, "waste   mean age   lifetime\n");
	/* nobody asked the allocator; all from the very start, none seen to be freed */
	check_has(text, " -     10.50s          -  ");
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
	text = rendered("text", &profile, &options, 0);
	check_has(text, " more than was requested, by the allocator's rounding\n");
	check_has(text, "      2.50s     1.50ms ");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(kept_has_a_line_for_each_stack_the_largest_first)
{
	struct profile profile = small_profile();
	const struct render_options options = {.type = INUSE_SPACE};

	char *text = rendered("kept", &profile, &options, 0);
	check_has(text,
		  "Total: 4.01kB in use\n"
		  "    in use        +/-    objects  samples  stack\n"
		  "       3kB          0          3        3  copy file.c:10 < store < serve < "
		  "main\n"
		  "       1kB          0          1        1  serve file.c:10 < main\n"
		  "        8B          0          1        1  tiny file.c:10 < main\n");
	free(text);
	for (size_t i = 0; i < profile.row_count; i++)
		profile.row[i].inuse_bytes = profile.row[i].inuse_count = 0;
	text = rendered("kept", &profile, &options, 0);
	check_has(text, "Nothing that was allocated in the window is in use.\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_tells_how_the_rate_changed)
{
	struct profile profile = small_profile();

	profile.meta.interval = 4096;
	profile.meta.budget_ppm = 10000;
	for (uint64_t i = 0; i < 8; i++)
		profile_add_change(&profile.meta,
				   &(struct profile_change){.time_ns = (i + 1) * 1500000000,
							    .interval = 8192 << i});
	char *text = rendered("text", &profile, &in_use, 0);
	check_has(text, "Rate: adapted to stay within 1% of CPU time: one per 8kB from 1.5s, one "
			"per 16kB from 3.0s, ");
	check_has(text, ", and 2 more changes; each sample is weighed by its own\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_warns)
{
	struct profile profile = small_profile();

	profile.meta.dropped_frees = 5;
	profile.meta.damage = strdup("line 3\x1b[0m: no number");
	char *text = rendered("text", &profile, &in_use, 0);
	check_has(text, "Warning: 5 frees were lost");
	check_has(text, "damaged: line 3?[0m: no number");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_without_samples)
{
	struct profile profile = sample_open();
	char *text = rendered("text", &profile, &in_use, 0);

	check_has(text, "No sample was taken");
	free(text);
	sample_stack(&profile, "main", 1, 10);
	profile.row[0].inuse_count = profile.row[0].inuse_bytes = 0;
	text = rendered("text", &profile, &in_use, 0);
	check_has(text, "freed again");
	free(text);
	profile_close(&profile);
}

static void check_text(const struct profile *profile, const char *wanted)
{
	char *text = rendered("text", profile, &in_use, 0);

	check_has(text, wanted);
	free(text);
}

/* What is to be tried depends on what the session did. */
UNIT_TEST(text_without_samples_says_what_may_help)
{
	struct profile profile = sample_open();

	profile.meta.interval = 1;
	check_text(&profile, "allocated nothing in the window.\nTry a longer window (--duration),");
	profile_add_change(&profile.meta, &(struct profile_change){.interval = 32768});
	profile_add_change(&profile.meta, &(struct profile_change){.interval = 64});
	check_text(&profile, "one sample per 64B to 32kB; ");
	check_text(&profile, "a finer rate (--sample 1).\n");
	profile_add_change(&profile.meta, &(struct profile_change){.interval = 1});
	check_text(&profile, "one sample per 1B to 32kB; ");
	check_text(&profile, "allocated nothing in the window.\n");
	profile.meta.change_count = 0;
	profile.meta.interval = 524288;
	check_text(&profile, "a finer rate (--sample 64K).\n");
	profile.meta.damage = strdup("line 2");
	check_text(&profile, "Nothing could be read before the damage.\n");
	profile_close(&profile);
}

UNIT_TEST(text_of_samples_without_stacks)
{
	struct profile profile = sample_open();

	sample_frames(&profile, NULL, 0, 1, 64);
	check_text(&profile, "no sample has a stack");
	profile_close(&profile);
}

UNIT_TEST(text_of_a_scaled_file_without_values)
{
	struct profile profile = sample_open();

	profile.meta.is_scaled = true;
	sample_stack(&profile, "main", 1, 10);
	profile.row[0].inuse_count = profile.row[0].inuse_bytes = 0;
	check_text(&profile, "the file counts nothing of this");
	profile_close(&profile);
}

UNIT_TEST(text_names_without_symbols)
{
	struct profile profile = sample_open();
	struct profile_module module = {.lo = 0x5000,
					.hi = 0x6000,
					.bias = 0x4000,
					.path = (char *)(uintptr_t) "/usr/lib/libthing.so.1"};
	uint32_t index, frames[2];

	CHECK_EQ(profile_add_module(&profile, &module, &index), 0);
	CHECK_EQ(profile_frame_at(&profile, 0x5235, (int32_t)index, &frames[0]), 0);
	CHECK_EQ(profile_frame_at(&profile, 0x9999, -1, &frames[1]), 0);
	sample_frames(&profile, frames, 2, 1, 64);
	char *text = rendered("text", &profile, &in_use, 0);
	check_has(text, "  libthing.so.1+0x1234\n");
	check_has(text, "  0x9998\n"); /* of the call, as pprof has it */
	free(text);
	profile.meta.granularity = PROFILE_ADDRESSES;
	text = rendered("text", &profile, &in_use, 0);
	check_has(text, "  0000000000009998 0x9998\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_has_functions_of_a_stripped_program)
{
	struct profile profile = sample_open();
	struct profile_module module = {.lo = 0x5000,
					.hi = 0x6000,
					.bias = 0x4000,
					.path = (char *)(uintptr_t) "/usr/bin/server"};
	uint32_t index, frames[4];

	profile.meta.exe = strdup("/usr/bin/server");
	CHECK_EQ(profile_add_module(&profile, &module, &index), 0);
	frames[2] = sample_frame(&profile, "__libc_start_call_main");
	for (uint32_t i = 0; i < 2; i++)
		CHECK_EQ(profile_frame_at(&profile, 0x5235 + i * 0x100, (int32_t)index, &frames[i]),
			 0);
	profile.frame[frames[0]].function = 0x5200;
	profile.frame[frames[1]].function = 0x5300;
	sample_frames(&profile, frames, 3, 1, 64);
	/* Another call in the same function. */
	CHECK_EQ(profile_frame_at(&profile, 0x5245, (int32_t)index, &frames[0]), 0);
	profile.frame[frames[0]].function = 0x5200;
	sample_frames(&profile, frames, 3, 1, 64);
	char *text = rendered("text", &profile, &in_use, 0);
	check_has(text, "      128B   100%   100%       128B   100%  server+0x1200\n"
			"         0     0%   100%       128B   100%  main [derived]\n");
	free(text);
	/* What main calls is not main, nor is another file's function. */
	free(profile.meta.exe);
	profile.meta.exe = strdup("/usr/bin/other");
	text = rendered("text", &profile, &in_use, 0);
	check_has(text, "  server+0x1300\n");
	free(text);
	profile_close(&profile);
}

/* How the code of /usr/bin/tool is called in a process of that name and command line. */
static void check_label(const char *comm, const char *cmdline, const char *label)
{
	struct profile profile = sample_open();
	struct profile_module module = {.lo = 0x5000,
					.hi = 0x6000,
					.bias = 0x4000,
					.path = (char *)(uintptr_t) "/usr/bin/tool"};
	uint32_t index, frame;

	free(profile.meta.comm);
	free(profile.meta.cmdline);
	profile.meta.comm = strdup(comm);
	profile.meta.cmdline = strdup(cmdline);
	profile.meta.exe = strdup("/usr/bin/tool");
	CHECK_EQ(profile_add_module(&profile, &module, &index), 0);
	CHECK_EQ(profile_frame_at(&profile, 0x5235, (int32_t)index, &frame), 0);
	sample_frames(&profile, &frame, 1, 1, 64);
	char *text = rendered("text", &profile, &in_use, 0);
	check_has(text, label);
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_calls_the_program_as_it_runs)
{
	check_label("tool", "tool -x", "  tool+0x1234\n");
	check_label("server", "/opt/server 127.0.0.1:80", "  server+0x1234\n");
	check_label("server", "server: worker", "  server+0x1234\n");
	check_label("a-long-name-of-", "a-long-name-of-a-server",
		    "  a-long-name-of-a-server+0x1234\n");
	/* A script, and a process that renamed itself. */
	check_label("run.py", "/usr/bin/python3 run.py", "  tool+0x1234\n");
	check_label("worker", "server", "  tool+0x1234\n");
	check_label("", "", "  tool+0x1234\n");
}

/*
 * A second profile to compare with: serve has 1 kB less than now, gone has 2 kB that are no more.
 */
static struct profile comparison(void)
{
	struct profile profile = small_profile(), base = sample_open();

	sample_stack(&base, "main;serve;copy<store", 2, 1024);
	sample_stack(&base, "main;serve", 1, 1024);
	sample_stack(&base, "main;gone", 2, 1024);
	sample_compare(&profile, &base);
	return profile;
}

UNIT_TEST(text_of_a_comparison)
{
	struct profile profile = comparison();

	CHECK_EQ(percent_base_set(&profile, PERCENT_BASE_CHANGES), 0);
	char *text = rendered("text", &profile, &in_use, 0);
	check_has(text, "Change: -1016B in use, from 5kB to 4.01kB\n"
			"Showing nodes accounting for -1016B, 32.99% of 3.01kB total\n");
	check_has(text, "      -2kB 66.49% 66.49%       -2kB 66.49%  gone");
	check_has(text, "       1kB 33.25% 33.25%        1kB 33.25%  copy (inline)");
	check_has(text, "         0     0% 32.99%     -1016B 32.99%  main");
	CHECK(strstr(text, "gone") < strstr(text, "copy"));
	free(text);
	CHECK_EQ(percent_base_set(&profile, PERCENT_BASE_BASE), 0);
	text = rendered("text", &profile, &in_use, 0);
	check_has(text, "      -2kB 40.00% 40.00%       -2kB 40.00%  gone");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_of_two_that_are_alike)
{
	struct profile profile = small_profile(), same = small_profile();

	CHECK_EQ(profile_merge(&profile, &same, PROFILE_BASE), 0);
	profile_close(&same);
	char *text = rendered("text", &profile, &in_use, 0);
	check_has(text, "there is no difference");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(text_says_what_is_filtered)
{
	struct profile profile = small_profile(), left;
	const struct filter_options options = {.text = {[FILTER_FOCUS] = "copy"}};
	unsigned int unmatched;

	CHECK_EQ(percent_base_set(&profile, PERCENT_BASE_CHANGES), 0);
	CHECK_EQ(filter_profile(&profile, &options, &left, &unmatched), 0);
	char *text = rendered("text", &left, &in_use, 0);
	check_has(text, "Active filters:\n   focus=copy\nShown: 3kB in use\nShowing nodes "
			"accounting for 3kB, 74.85% of 4.01kB total\n");
	check_has(text, "       3kB 74.85% 74.85%        3kB 74.85%  copy (inline)");
	free(text);
	profile_close(&left);
	profile_close(&profile);
}

UNIT_TEST(text_is_trimmed_as_asked)
{
	struct profile profile = small_profile();
	const struct render_options all = {.type = INUSE_SPACE, .no_trim = true},
				    none_dropped = {.type = INUSE_SPACE, .node_fraction = -1},
				    heavy = {.type = INUSE_SPACE, .node_fraction = 0.9};

	char *text = rendered("text", &profile, &all, 0);
	check_has(text, "  tiny");
	free(text);
	text = rendered("text", &profile, &none_dropped, 0);
	check_has(text, "  tiny");
	check_has_not(text, "Dropped");
	free(text);
	text = rendered("text", &profile, &heavy, 0);
	check_has(text, "Dropped 3 nodes (cum <= 3.61kB)\n");
	check_has_not(text, "copy");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(units)
{
	static const struct {
		const char *unit, *shown;
	} cases[] = {{"b", "3072B"},
		     {"Bytes", "1024B"},
		     {"kb", "   4.01kB   100%  main"},
		     {"megabytes", "         0 74.85%"},
		     {"auto", "1kB 24.95%"}};
	struct profile profile = small_profile();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_EQ(render_use_unit(cases[i].unit), 0);
		char *text = rendered("text", &profile, &in_use, 0);
		check_has(text, cases[i].shown);
		free(text);
	}
	CHECK_EQ(render_use_unit("furlong"), -EINVAL);
	profile_close(&profile);
}

UNIT_TEST(tree)
{
	struct profile profile = small_profile();
	char *text = rendered("tree", &profile, &in_use, 0);

	check_has(text,
		  "----------------------------------------------------------+-------------\n"
		  "      flat  flat%   sum%        cum   cum%   calls calls% + context\n"
		  "----------------------------------------------------------+-------------\n"
		  "                                               3kB   100% |   store (inline)\n"
		  "       3kB 74.85% 74.85%        3kB 74.85%                | copy\n"
		  "----------------------------------------------------------+-------------\n"
		  "                                               4kB   100% |   main\n"
		  "       1kB 24.95% 99.81%        4kB 99.81%                | serve\n"
		  "                                               3kB 75.00% |   store\n"
		  "----------------------------------------------------------+-------------\n"
		  "         0     0% 99.81%     4.01kB   100%                | main\n"
		  "                                               4kB 99.81% |   serve\n"
		  "----------------------------------------------------------+-------------\n");
	check_has_not(text, "tiny");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(peek)
{
	struct profile profile = small_profile();
	const struct render_options tiny = {.type = INUSE_SPACE, .argument = "^t"},
				    none = {.type = INUSE_SPACE, .argument = "x"},
				    wrong = {.type = INUSE_SPACE, .argument = "("};

	char *text = rendered("peek", &profile, &tiny, 0);
	check_has(text, "                                                8B   100% |   main\n"
			"        8B  0.19%  0.19%         8B  0.19%                | tiny\n");
	check_has_not(text, "| serve");
	free(text);
	free(rendered("peek", &profile, &none, -ENODATA));
	check_has(render_error(), "no function matches \"x\"");
	free(rendered("peek", &profile, &wrong, -EINVAL));
	profile_close(&profile);
}

UNIT_TEST(traces)
{
	struct profile profile = small_profile();
	char *text = rendered("traces", &profile, &in_use, 0);

	check_has(text, "     bytes:  1kB\n       3kB   copy (inline)\n             store\n        "
			"     serve\n             main\n----");
	check_has(text, "     bytes:  8B\n        8B   tiny\n             main\n");
	CHECK(strstr(text, "copy") < strstr(text, "tiny"));
	free(text);
	profile_close(&profile);
}

/* Blocks of several sizes are one stack, with the sum of their values. */
UNIT_TEST(traces_print_no_stack_twice)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;work", 1, 100);
	sample_stack(&profile, "main;other", 1, 250);
	sample_stack(&profile, "main;work", 1, 200);
	char *text = rendered("traces", &profile, &in_use, 0);

	check_has(text, "     bytes:  100B .. 200B\n      300B   work\n             main\n----");
	CHECK(!strstr(strstr(text, "work") + 1, "work"));
	CHECK(strstr(text, "work") < strstr(text, "other"));
	free(text);
	profile_close(&profile);
}

/* Each of 400 functions has a quarter of a percent. */
UNIT_TEST(rows_that_are_all_too_light)
{
	struct profile profile = sample_open();

	for (int i = 0; i < 400; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%03d", i);
		sample_stack(&profile, name, 1, 1000 + (uint64_t)i % 100);
	}
	char *text = rendered("text", &profile, &in_use, 0);

	check_has_not(text, "freed again");
	check_has(text, "Each function has less than 0.5% of the total (--nodefraction); the "
			"largest are:\n");
	check_has(text, "  f099  file.c");
	check_has_not(text, "  f000  file.c");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(threads)
{
	struct profile profile = small_profile();
	uint32_t thread, part;

	free(rendered("threads", &profile, &in_use, -ENODATA));
	for (uint32_t row = 0; row < profile.row_count; row++) {
		const struct profile_row *whole = &profile.row[row];

		CHECK_EQ(thread_breakdown_thread(&profile.breakdown, row == 0 ? "wor\x1bker" : NULL,
						 row == 0 ? 77 : 0, &thread),
			 0);
		CHECK_EQ(thread_breakdown_of(&profile.breakdown, row, thread, &part), 0);
		profile.breakdown.part[part] = (struct part){.row = row,
							     .thread = thread,
							     .alloc_count = whole->alloc_count,
							     .alloc_bytes = whole->alloc_bytes,
							     .inuse_count = whole->inuse_count,
							     .inuse_bytes = whole->inuse_bytes};
	}
	char *text = rendered("threads", &profile, &in_use, 0);
	check_has(text, "   objects      bytes      %  thread\n"
			"         3        3kB 74.85%  wor?ker (77)\n"
			"         2     1.01kB 25.15%  <unknown>\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(sizes)
{
	struct profile profile = small_profile();
	char *text = rendered("sizes", &profile, &in_use, 0);

	check_has(text, "         1         8B  0.19%       4B .. 8B       \n");
	check_has(text, "         4        4kB 99.81%     512B .. 1kB      "
			"########################################\n");
	check_has(text, "         0          0     0%      32B .. 64B      \n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(modules)
{
	struct profile profile = small_profile();
	const struct profile_module module = {
		.lo = 0x5000, .hi = 0x6000, .path = (char *)(uintptr_t) "/usr/lib/libthing.so.1"};
	uint32_t index;

	CHECK_EQ(profile_add_module(&profile, &module, &index), 0);
	for (size_t i = 0; i < profile.frame_count; i++)
		profile.frame[i].module = strcmp(profile.frame[i].line[0].function, "main") != 0
						  ? (int32_t)index
						  : -1;
	char *text = rendered("modules", &profile, &in_use, 0);
	check_has(text, "    4.01kB   100%   100%     4.01kB   100%  [libthing.so.1]\n         0   "
			"  0%   100%     4.01kB   100%  <unknown>\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(collapsed_lines_are_merged)
{
	struct profile profile = small_profile();

	sample_stack(&profile, "main;serve;copy<store", 1, 100000);
	sample_stack(&profile, "main;a:b\nc", 1, 5);
	char *text = rendered("collapsed", &profile, &in_use, 0);
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
	char *text = rendered("collapsed", &profile, &in_use, 0);
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
	char *text = rendered("svg", &profile, &in_use, 0);
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
	char *text = rendered("svg", &profile, &in_use, 0);
	check_has(text, "Nothing to show");
	free(text);
	profile_close(&profile);
}

/* Each of them calls each other one. */
static struct profile dense_profile(int functions)
{
	struct profile profile = sample_open();
	char names[64];

	for (int caller = 0; caller < functions; caller++) {
		for (int callee = 0; callee < functions; callee++) {
			snprintf(names, sizeof(names), "main;f%d;f%d", caller, callee);
			sample_stack(&profile, names, 1, 4096 + (uint64_t)callee);
		}
	}
	return profile;
}

/* A picture of 40,000 calls would take graphviz for ever. */
UNIT_SLOW_TEST(svg_of_a_dense_graph)
{
	const struct render_options options = {.type = INUSE_SPACE, .no_trim = true};
	struct profile profile = dense_profile(200);

	if (system("dot -V 2>/dev/null") != 0)
		SKIP("graphviz is not installed");
	char *text = rendered("svg", &profile, &options, 0);
	check_has(text, "</svg>");
	check_has(text, ">f199<");
	check_has(text, ">Left out: the ");
	check_has(text, " lightest of 40000 calls,");
	free(text);
	/* What is not drawn has all of them. */
	text = rendered("dot", &profile, &options, 0);
	check_has_not(text, "Left out");
	check_has(text, "tooltip=\"f198 -> f199\"");
	check_has(text, "tooltip=\"f0 -> f1\"");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(svg_without_graphviz)
{
	struct profile profile = small_profile();

	setenv("PATH", "/nowhere", 1);
	free(rendered("svg", &profile, &in_use, -ENOENT));
	check_has(render_error(), "apt-get install graphviz");
	free(rendered("text", &profile, &in_use, 0));
	profile_close(&profile);
}

UNIT_TEST(pages_and_pictures_are_not_for_terminals)
{
	static const char *const names[] = {"svg", "flame", "html", "png", "pprof"};
	struct profile profile = sample_open();
	char wanted[64];
	const int keeper = posix_openpt(O_RDWR | O_NOCTTY);

	sample_stack(&profile, "main;a", 1, 64);
	CHECK(keeper >= 0 && !grantpt(keeper) && !unlockpt(keeper));
	FILE *terminal = fopen(ptsname(keeper), "w");
	CHECK(terminal && isatty(fileno(terminal)));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CHECK_EQ(renderer_named(names[i])->render(&profile, &in_use, terminal), -EINVAL);
		snprintf(wanted, sizeof(wanted), "--%s is not for terminals: name a file (-o)",
			 names[i]);
		CHECK_STR(render_error(), wanted);
	}
	fclose(terminal);
	close(keeper);
	profile_close(&profile);
}

UNIT_TEST(full_disk)
{
	struct profile profile = small_profile();
	FILE *full = fopen("/dev/full", "w");

	if (!full)
		SKIP("no /dev/full");
	CHECK_EQ(renderer_named("text")->render(&profile, &in_use, full), -EIO);
	check_has(render_error(), "No space left");
	fclose(full);
	profile_close(&profile);
}

UNIT_MAIN()
