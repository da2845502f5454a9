/* SPDX-License-Identifier: MIT */
/* progress: what is shown, and how often, on a terminal and elsewhere. */
#include "progress.h"

#include <stdlib.h>

#include "standard_error.h"
#include "unit.h"

#define SECOND 1000000000ull

static struct hi_stream_stats stats_at(uint64_t time_ns)
{
	return (struct hi_stream_stats){
		.time_ns = time_ns,
		.samples = 4711,
		.dropped_allocs = 1,
		.dropped_frees = 20,
		.live_set_full = 300,
		.payload_cpu_ns = 3 * SECOND,
		.target_cpu_ns = 200 * SECOND,
	};
}

static void show(struct progress *progress, uint64_t time_ns,
		 const struct hi_analyzer_status *status, uint64_t duration_ns)
{
	const struct hi_stream_stats stats = stats_at(time_ns);
	progress_show(progress, &stats, status, duration_ns);
}

/* 21 of 4732 + 1000 events. */
UNIT_TEST(losses_and_a_remedy_are_named)
{
	into_pipe();
	struct progress progress;
	progress_open(&progress, false);
	progress.interval = 1;
	struct hi_stream_stats stats = stats_at(11 * SECOND);
	stats.frees = 1000;
	progress_show(&progress, &stats, NULL, 0);
	CHECK(strstr(shown(), "; too many to be read, 0.37% lost: --sample 128 would fit\n"));
	stats.time_ns += 11 * SECOND;
	/* a live set that is full is not the reader's fault */
	stats.dropped_allocs = stats.dropped_frees = 0;
	progress_show(&progress, &stats, NULL, 0);
	CHECK(!strstr(shown(), "too many"));
}

UNIT_TEST(every_figure_is_in_the_line)
{
	const struct hi_analyzer_status status = {.live_bytes = 3 << 20};
	struct progress progress;
	into_pipe();
	progress_open(&progress, false);
	show(&progress, 65 * SECOND, &status, 120 * SECOND);
	CHECK_STR(shown(), "heapinject: 1m05s of 2m00s, 4711 samples, 3MB live, 321 dropped, "
			   "overhead 4.615% of a CPU\n");
}

UNIT_TEST(what_may_not_be_said_stands_in_the_line)
{
	struct hi_analyzer_status status = {.live_bytes = 3 << 20,
					    .caveats = 1u << HI_CAVEAT_UNHOOKED |
						       1u << HI_CAVEAT_MISSED_FREES};
	struct progress progress;
	into_pipe();
	progress_open(&progress, false);
	show(&progress, 20 * SECOND, &status, 0);
	CHECK(strstr(shown(), ", 3MB live (too high: frees go past the hooks), 321 dropped"));
	status.caveats = 1u << HI_CAVEAT_OTHER_MEANS;
	show(&progress, 40 * SECOND, &status, 0);
	CHECK(strstr(shown(), ", 3MB live (not all: it grows by other means), 321 dropped"));
	status.caveats = 1u << HI_CAVEAT_OTHER_HEAP;
	show(&progress, 60 * SECOND, &status, 0);
	CHECK(strstr(shown(), ", 3MB live, 321 dropped"));
	status.caveats = 1u << HI_CAVEAT_DROPPED;
	show(&progress, 80 * SECOND, &status, 0);
	CHECK(strstr(shown(), ", 3MB live (not right: many samples were dropped), 321 dropped"));
}

UNIT_TEST(each_answer_is_said_once)
{
	struct hi_analyzer_status status = {.answer = 1, .sentence = "It grows: a\033b."};
	struct progress progress;
	into_pipe();
	progress_open(&progress, false);
	show(&progress, 10 * SECOND, &status, 0);
	CHECK(!strncmp(shown(), "heapinject: so far: It grows: a?b.\nheapinject: 10s", 50));
	show(&progress, 20 * SECOND, &status, 0);
	CHECK(!strstr(shown(), "so far"));
	status.answer = 2;
	show(&progress, 30 * SECOND, &status, 0);
	CHECK(strstr(shown(), "so far"));
	/* a sentence without an end */
	status.answer = 3;
	memset(status.sentence, 'x', sizeof(status.sentence));
	show(&progress, 40 * SECOND, &status, 0);
	CHECK(strstr(shown(), "xxx\nheapinject: 40s"));
	progress_open(&progress, true);
	show(&progress, 50 * SECOND, &status, 0);
	CHECK_STR(shown(), "");
}

UNIT_TEST(what_grows_stands_in_the_line)
{
	struct hi_analyzer_status status = {
		.live_bytes = 3 << 20, .verdict = HI_ANALYZER_GROWS, .slope = 2 << 20};
	struct progress progress;
	into_pipe();
	progress_open(&progress, false);
	show(&progress, 20 * SECOND, &status, 0);
	CHECK(strstr(shown(), ", 3MB live, grows by 2MB/s, 321 dropped"));
	status.verdict = 0;
	show(&progress, 40 * SECOND, &status, 0);
	CHECK(!strstr(shown(), "grows"));
}

UNIT_TEST(what_is_not_known_is_not_shown)
{
	struct progress progress;
	into_pipe();
	progress_open(&progress, false);
	struct hi_stream_stats stats = stats_at(10 * SECOND);
	stats.target_cpu_ns = 0;
	progress_show(&progress, &stats, NULL, 0);
	CHECK_STR(shown(),
		  "heapinject: 10s, 4711 samples, 321 dropped, overhead 30.000% of a CPU\n");
}

UNIT_TEST(elsewhere_a_line_comes_every_ten_seconds)
{
	struct progress progress;
	unsigned lines = 0;
	into_pipe();
	progress_open(&progress, false);
	for (uint64_t ms = 0; ms < 60000; ms += 250) {
		show(&progress, ms * 1000000, NULL, 0);
		const char *text = shown();
		lines += *text != 0;
		CHECK(!strpbrk(text, "\r\033"));
	}
	CHECK_EQ(lines, 5); /* at 10, 20, 30, 40 and 50 seconds */
	progress_close(&progress);
	CHECK_STR(shown(), "");
}

UNIT_TEST(on_a_terminal_one_line_is_redrawn)
{
	struct progress progress;
	unsigned redrawn = 0;
	into_terminal();
	progress_open(&progress, false);
	for (uint64_t ms = 0; ms <= 1000; ms += 5) {
		show(&progress, ms * 1000000, NULL, 0);
		const char *text = shown();
		if (!*text)
			continue;
		redrawn++;
		CHECK_EQ(strncmp(text, "\r\033[Kheapinject: ", 16), 0);
		CHECK(!strchr(text, '\n'));
	}
	CHECK_EQ(redrawn, 4);
	progress_close(&progress);
	CHECK_STR(shown(), "\r\n"); /* so that what follows begins on a line of its own */
	progress_close(&progress);
	CHECK_STR(shown(), "");
}

UNIT_TEST(a_terminal_that_cannot_redraw_gets_lines)
{
	struct progress progress;
	into_terminal();
	setenv("TERM", "dumb", 1);
	progress_open(&progress, false);
	show(&progress, 10 * SECOND, NULL, 0);
	CHECK_EQ(strncmp(shown(), "heapinject: 10s,", 16), 0);
	unsetenv("TERM");
	progress_open(&progress, false);
	show(&progress, 10 * SECOND, NULL, 0);
	CHECK_EQ(strncmp(shown(), "heapinject: 10s,", 16), 0);
}

/* Over a line that is being redrawn, which comes again below it. */
UNIT_TEST(what_else_is_said_has_a_line_of_its_own)
{
	struct progress progress;
	into_terminal();
	progress_open(&progress, false);
	progress_say(&progress, "wrote this");
	CHECK_STR(shown(), "wrote this\r\n");
	show(&progress, SECOND, NULL, 0);
	(void)shown();
	progress_say(&progress, "wrote that");
	CHECK_STR(shown(), "\r\033[Kwrote that\r\n");
	show(&progress, 2 * SECOND, NULL, 0);
	CHECK_EQ(strncmp(shown(), "\r\033[Kheapinject: 2s", 18), 0);
	progress_close(&progress);
	CHECK_STR(shown(), "\r\n");
}

UNIT_TEST(quiet_is_quiet)
{
	struct progress progress;
	into_terminal();
	progress_open(&progress, true);
	show(&progress, 100 * SECOND, NULL, 0);
	progress_close(&progress);
	progress_say(&progress, "wrote this");
	CHECK_STR(shown(), "");
	progress_complain(&progress, "cannot write");
	CHECK_STR(shown(), "cannot write\r\n");
}

UNIT_MAIN()
