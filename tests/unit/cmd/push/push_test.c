/* SPDX-License-Identifier: MIT */
/*
 * push: the session's side, with nobody or a test at the other end of the socket. It never waits,
 * and says each thing once.
 */
#include "push.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"

#define MANY 100000u

static int other;

static struct push begin(void)
{
	static const struct push_options options = {.url = "http://localhost:1"};
	int pair[2];

	CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	other = pair[1];
	return (struct push){
		.pid = getpid(), .socket = pair[0], .options = &options, .spool_path = "/spool"};
}

static void tell(const struct push_state *state)
{
	CHECK_EQ(send(other, state, sizeof(*state), 0), sizeof(*state));
}

/* The next line that is new, or "". */
static const char *look(struct push *push)
{
	static char text[PUSH_LINE_MAX];

	return push_look(push, text) ? text : "";
}

UNIT_TEST(profiles_that_nobody_takes_are_counted_and_not_waited_for)
{
	struct push push = begin();

	for (unsigned i = 0; i < MANY && !push.lost; i++)
		push_hand_over(&push, memfd_create("profile", MFD_CLOEXEC), i);
	CHECK(push.lost > 0);
	CHECK(push.handed > push.lost);
	/* no descriptor of them is left here */
	CHECK_EQ(close(other), 0);
	const int next = dup(0);
	CHECK(next <= other);
}

UNIT_TEST(a_profile_that_cannot_be_read_is_lost)
{
	struct push push = begin();

	push_hand_over(&push, -1, 1);
	CHECK_EQ(push.lost, 1);
}

UNIT_TEST(trouble_is_said_once_and_its_end_too)
{
	struct push push = begin();
	struct push_state state = {.is_away = true, .complaint = 1, .text = "no \x1b[31mserver"};

	CHECK_STR(look(&push), "");
	tell(&state);
	state.waiting = 1;
	tell(&state);
	CHECK_STR(look(&push), "heapinject: pushing to http://localhost:1: no ?[31mserver; "
			       "profiles wait in /spool");
	CHECK_STR(look(&push), "");
	tell(&state);
	CHECK_STR(look(&push), "");
	state.is_away = false;
	tell(&state);
	CHECK_STR(look(&push), "heapinject: pushing to http://localhost:1 works again");
	CHECK_STR(look(&push), "");
	/* a profile that is refused says nothing of others */
	state.complaint = 2;
	memcpy(state.text, "refused", sizeof("refused"));
	tell(&state);
	CHECK_STR(look(&push), "heapinject: pushing to http://localhost:1: refused");
	CHECK_STR(look(&push), "");
}

UNIT_TEST(an_unexpected_end_is_said_once)
{
	struct push push = begin();

	CHECK_EQ(close(other), 0);
	CHECK(strstr(look(&push), "the process that pushes profiles has ended"));
	CHECK_STR(look(&push), "");
	push_hand_over(&push, memfd_create("profile", MFD_CLOEXEC), 1);
	CHECK_EQ(push.lost, 1);
}

UNIT_TEST(an_expected_end_is_not_said)
{
	struct push push = begin();

	tell(&(struct push_state){.is_over = true});
	CHECK_EQ(close(other), 0);
	CHECK_STR(look(&push), "");
	CHECK(push.is_over);
	CHECK_STR(look(&push), "");
}

UNIT_TEST(without_a_url_nothing_happens)
{
	const struct push_options options = {0};
	const struct push_origin origin = {"program", "host", 1, "prefix"};
	struct push push;

	CHECK_EQ(push_start(&push, &options, &origin), 0);
	CHECK_EQ(push.pid, 0);
	push_hand_over(&push, dup(0), 1);
	CHECK_STR(look(&push), "");
	push_finish(&push, true, false);
	CHECK_EQ(push.handed, 0);
}

UNIT_MAIN()
