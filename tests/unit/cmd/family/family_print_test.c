/* SPDX-License-Identifier: MIT */
/* family_print: which sessions are counted as what. */
#include "family_print.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hi_exit.h"
#include "unit.h"

static struct member member[3];
static struct session_outcome outcome[3];
static char printed[4096];

static void begin(void)
{
	const struct process_found process = {.pid = 4711};

	for (size_t i = 0; i < 3; i++) {
		member_init(&member[i], &process);
		member[i].state = MEMBER_ENDED;
		outcome[i] = (struct session_outcome){0};
		member[i].outcome = &outcome[i];
	}
}

/* What it prints of the first ones. */
static int print(size_t count, bool as_json)
{
	struct members members = {.member = member, .count = count};
	int ends[2];
	const int before = dup(STDOUT_FILENO);

	CHECK_EQ(pipe2(ends, O_NONBLOCK), 0);
	fflush(stdout);
	CHECK(before >= 0 && dup2(ends[1], STDOUT_FILENO) >= 0);
	const int exit_code = family_print(&members, as_json);
	CHECK(dup2(before, STDOUT_FILENO) >= 0);
	const ssize_t got = read(ends[0], printed, sizeof(printed) - 1);
	printed[got > 0 ? got : 0] = 0;
	close(ends[0]);
	close(ends[1]);
	close(before);
	return exit_code;
}

UNIT_TEST(a_killed_session_is_named)
{
	begin();
	outcome[0].is_attached = outcome[1].is_attached = true;
	member[0].killed_by = member[1].killed_by = SIGKILL;
	member[0].exit_code = member[1].exit_code = HI_EXIT_FAILED;
	CHECK_EQ(process_found_read(getppid(), &member[0].process), 0);
	CHECK_EQ(print(2, false), HI_EXIT_FAILED);
	CHECK(strstr(printed, "its session was killed: heapinject detach PID removes what"));
	CHECK(strstr(printed, "its session was killed, and the process has ended\n"));
}

UNIT_TEST(receipts_are_of_those_that_were_attached_to)
{
	begin();
	outcome[0].is_attached = outcome[1].is_attached = true;
	member[1].exit_code = HI_EXIT_FAILED;
	member[2].exit_code = HI_EXIT_FAILED; /* interrupted before it attached */
	CHECK_EQ(print(3, false), HI_EXIT_FAILED);
	CHECK(strstr(printed, "Detach receipts: 1 of 2 without failure\n"));
	begin();
	member[0].exit_code = HI_EXIT_FAILED;
	print(1, false);
	CHECK(strstr(printed, "Detach receipts: 0 of 0 without failure\n"));
}

UNIT_TEST(what_waited_for_its_turn_has_not_ended)
{
	begin();
	member[0].state = MEMBER_GONE;
	member[1].state = MEMBER_GONE;
	member[1].why = "was not attached to: the command was ended before";
	print(2, false);
	CHECK(strstr(printed, "has ended before it was attached to\n"));
	CHECK(strstr(printed, "was not attached to: the command was ended before\n"));
	CHECK(strstr(printed, "; 1 ended before; 1 not begun\n"));
	print(2, true);
	CHECK(strstr(printed, "\"ended_before\":1,\"not_begun\":1"));
}

UNIT_MAIN()
