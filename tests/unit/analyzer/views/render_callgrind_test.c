/* SPDX-License-Identifier: MIT */
/* render_callgrind_test.c - costs by line and by call, in callgrind's text. */
#include "rendered.h"

/*
 * What is listed under a function: from behind its fn= line, which may give its name or only its
 * number, to the empty line. To be freed.
 */
static char *function_of(const char *text, const char *name)
{
	char wanted[64], line[32];

	snprintf(wanted, sizeof(wanted), ") %s\n", name);
	const char *at = strstr(text, wanted);
	CHECK(at);
	while (*at != '(')
		at--;
	snprintf(line, sizeof(line), "\nfn=(%lu)", strtoul(at + 1, NULL, 10));
	at = strstr(text, line);
	CHECK(at);
	at = strchr(at + 1, '\n') + 1;
	return strndup(at, (size_t)(strstr(at, "\n\n") - at));
}

static void check_function(const char *text, const char *name, const char *costs)
{
	char *got = function_of(text, name);

	CHECK_STR(got, costs);
	free(got);
}

UNIT_TEST(own_costs_and_calls)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;serve;copy<store", 3, 1000);
	sample_stack(&profile, "main;serve", 1, 100);
	char *text = rendered("callgrind", &profile, &in_use, 0);
	check_has(text, "events: inuse_space inuse_objects alloc_space alloc_objects\n");
	check_has(text, "\ncmd: /usr/bin/server --x\npositions: line\n");
	check_has(text, "\ntotals: 3100 4 6200 8\n");
	/* An inlined function is called like another, on the line where it was inlined. */
	check_function(text, "copy", "10 3000 3 6000 6");
	check_function(text, "store", "cob=(1)\ncfi=(2)\ncfn=(3)\ncalls=6 10\n11 3000 3 6000 6");
	check_function(
		text, "serve",
		"cob=(1)\ncfi=(2)\ncfn=(4) store\ncalls=6 11\n10 3000 3 6000 6\n10 100 1 200 2");
	check_has(text, "fl=(2) src/file.c\n");
	free(text);
	profile_close(&profile);
}

UNIT_TEST(the_type_asked_for_comes_first)
{
	struct profile profile = sample_open();
	const struct render_options options = {.type = ALLOC_OBJECTS};

	sample_stack(&profile, "main", 3, 1000);
	char *text = rendered("callgrind", &profile, &options, 0);
	check_has(text, "events: alloc_objects ");
	check_has(text, "\n10 6 ");
	free(text);
	profile_close(&profile);
}

/* By whatever detours a function comes back to itself, it leads to no more than there is. */
UNIT_TEST(recursion_counts_once)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;ping;pong;ping;pong;leaf", 1, 100);
	sample_stack(&profile, "main;ping;ping;leaf", 1, 10);
	char *text = rendered("callgrind", &profile, &in_use, 0);
	check_has(text, "\ntotals: 110 2 220 4\n");
	check_function(text, "leaf", "10 110 2 220 4");
	char *ping = function_of(text, "ping");
	check_has(ping, "10 100 1 200 2"); /* to pong */
	check_has(ping, "10 10 1 20 2");   /* to leaf */
	check_has_not(ping, "10 200");
	check_has_not(ping, "10 110");
	free(ping);
	char *called = function_of(text, "main");
	check_has(called, "calls=4 10\n10 110 2 220 4");
	free(called);
	free(text);
	profile_close(&profile);
}

/* A function whose code lies in two files is listed under the first of them. */
UNIT_TEST(a_function_of_two_files)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;store", 1, 100);
	sample_stack(&profile, "main;store<wrap", 1, 10);
	for (size_t i = 0; i < profile.frame_count; i++) {
		if (profile.frame[i].line_count == 2) {
			free(profile.frame[i].line[0].file);
			profile.frame[i].line[0].file = strdup("inc/other.h");
		}
	}
	char *text = rendered("callgrind", &profile, &in_use, 0);
	char *store = function_of(text, "store");
	check_has(store, "10 100 1 200 2\nfi=(3) inc/other.h\n10 10 1 20 2");
	free(store);
	free(text);
	profile_close(&profile);
}

UNIT_TEST(nothing_was_sampled)
{
	struct profile profile = sample_open();

	char *text = rendered("callgrind", &profile, &in_use, 0);
	check_has(text, "\ntotals: 0 0 0 0\n");
	check_has_not(text, "fn=");
	free(text);
	profile_close(&profile);
}

UNIT_MAIN()

UNIT_TEST(each_way_to_a_function_is_one_of_its_own)
{
	struct profile profile = sample_open();
	const struct render_options options = {.type = INUSE_SPACE, .call_tree = true};

	sample_stack(&profile, "main;serve;store", 3, 1000);
	sample_stack(&profile, "main;setup;store;store", 1, 100);
	char *text = rendered("callgrind", &profile, &options, 0);
	check_has(text, "\ntotals: 3100 4 6200 8\n");
	check_function(text, "store [1/3]", "10 3000 3 6000 6");
	check_function(text, "store [3/3]", "10 100 1 200 2");
	check_function(text, "setup",
		       "cob=(1)\ncfi=(2)\ncfn=(5) store [2/3]\ncalls=2 10\n10 100 1 200 2");
	check_has_not(text, ") main [");
	free(text);
	text = rendered("callgrind", &profile, &in_use, 0);
	check_function(text, "store", "10 3100 4 6200 8");
	free(text);
	profile_close(&profile);
}
