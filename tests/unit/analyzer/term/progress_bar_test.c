/* SPDX-License-Identifier: MIT */
/* progress_bar_test.c - what the line says, when it comes and that it goes. */
#include "progress_bar.h"

#include <errno.h>
#include <poll.h>

#include "standard_error.h"
#include "unit.h"

#define CLEAR "\r\033[K"

static uint64_t opened_ms;

/* As the timer does when it is time. */
static const char *drawn(void)
{
	CHECK_EQ(raise(PROGRESS_BAR_SIGNAL), 0);
	return shown();
}

static void open_bar(void)
{
	opened_ms = unit_now_ms();
	progress_bar_open();
}

/*
 * Shown is what is expected, unless it took us so long to come here that the timer has drawn, too.
 */
#define CHECK_SHOWN(text_, expected)                                                  \
	do {                                                                          \
		const char *text = (text_);                                           \
		if (strcmp(text, expected) != 0 && unit_now_ms() - opened_ms >= 1000) \
			SKIP("no CPU for %" PRIu64 " ms", unit_now_ms() - opened_ms); \
		CHECK_STR(text, expected);                                            \
	} while (0)

UNIT_TEST(says_what_goes_on_and_how_much_is_done)
{
	into_terminal();
	open_bar();
	CHECK_SHOWN(drawn(), ""); /* nothing goes on */
	progress_bar_phase("naming");
	progress_bar_share(1, 4);
	CHECK_SHOWN(drawn(), CLEAR "heapinject: naming [#####               ] 25%");
	progress_bar_share(5, 4);
	CHECK_SHOWN(drawn(), CLEAR "heapinject: naming [####################] 100%");
	progress_bar_phase("drawing");
	CHECK_SHOWN(drawn(), CLEAR "heapinject: drawing, 0 s");
	progress_bar_close();
	CHECK_SHOWN(shown(), CLEAR);
}

UNIT_TEST(a_file_says_it_by_itself)
{
	char name[] = "/tmp/progress_bar.XXXXXX", bytes[100] = {0};
	const int fd = mkstemp(name);
	int ends[2];

	CHECK(fd >= 0);
	unlink(name);
	CHECK_EQ(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	CHECK_EQ(lseek(fd, 60, SEEK_SET), 60);
	into_terminal();
	open_bar();
	progress_bar_phase("reading");
	progress_bar_file(fd);
	CHECK_SHOWN(drawn(), CLEAR "heapinject: reading [############        ] 60%");
	close(fd);
	CHECK_EQ(pipe(ends), 0);
	progress_bar_phase("reading");
	progress_bar_file(ends[0]); /* how much there is to come, nobody knows */
	CHECK_SHOWN(drawn(), CLEAR "heapinject: reading, 0 s");
	progress_bar_close();
}

UNIT_TEST(of_several_files_it_counts_those_that_are_done)
{
	into_terminal();
	open_bar();
	progress_bar_part(3, 10);
	progress_bar_phase("naming");
	progress_bar_share(9, 10);
	CHECK_SHOWN(drawn(), CLEAR "heapinject: naming 4 of 10 [######              ] 30%");
	progress_bar_close();
}

/* It must not hang in the air: what is complained of gets a line of its own. */
UNIT_TEST(makes_room_for_others)
{
	into_terminal();
	open_bar();
	progress_bar_hide();
	CHECK_SHOWN(shown(), "");
	progress_bar_phase("reading");
	drawn();
	progress_bar_hide();
	CHECK_SHOWN(shown(), CLEAR);
	CHECK(strstr(drawn(), "reading"));
	progress_bar_close();
	CHECK_SHOWN(shown(), CLEAR);
	progress_bar_close();
	CHECK_SHOWN(shown(), "");
}

UNIT_TEST(comes_after_a_second)
{
	struct pollfd line = {.events = POLLIN};
	int ready;

	into_terminal();
	line.fd = standard_error;
	open_bar();
	progress_bar_phase("reading");
	do
		ready = poll(&line, 1, UNIT_PATIENCE_MS);
	while (ready < 0 && errno == EINTR);
	CHECK_EQ(ready, 1);
	CHECK(unit_now_ms() - opened_ms >= 999);
	progress_bar_close();
}

/* Then a signal that nobody handles would end us; so it is asked for. */
static void check_idle(void)
{
	struct sigaction action;

	open_bar();
	progress_bar_phase("reading");
	progress_bar_share(1, 4);
	CHECK_EQ(sigaction(PROGRESS_BAR_SIGNAL, NULL, &action), 0);
	CHECK(action.sa_handler == SIG_DFL);
	progress_bar_hide();
	progress_bar_close();
	CHECK_SHOWN(shown(), "");
}

UNIT_TEST(nothing_in_a_pipe)
{
	into_pipe();
	check_idle();
}

UNIT_TEST(nothing_on_a_terminal_that_only_prints)
{
	into_terminal();
	setenv("TERM", "dumb", 1);
	check_idle();
}

UNIT_TEST(leaves_the_signal_as_it_was)
{
	struct sigaction action;

	into_terminal();
	open_bar();
	CHECK_EQ(sigaction(PROGRESS_BAR_SIGNAL, NULL, &action), 0);
	CHECK(action.sa_handler != SIG_DFL);
	progress_bar_close();
	CHECK_EQ(sigaction(PROGRESS_BAR_SIGNAL, NULL, &action), 0);
	CHECK(action.sa_handler == SIG_DFL);
}

UNIT_MAIN()
