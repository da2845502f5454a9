/* SPDX-License-Identifier: MIT */
/* events: a signal that comes while the screen is drawn is an event, too. */
#include "events.h"

#include <fcntl.h>

#include "screen.h"
#include "unit.h"

/* Standard input and output become a terminal. */
static void use_terminal(void)
{
	const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	CHECK(master >= 0);
	CHECK_EQ(grantpt(master), 0);
	CHECK_EQ(unlockpt(master), 0);
	const int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
	CHECK(terminal >= 0);
	CHECK(dup2(terminal, STDIN_FILENO) >= 0 && dup2(terminal, STDOUT_FILENO) >= 0);
	setenv("TERM", "vt100", 1);
}

UNIT_TEST(ctrl_z_is_not_lost_while_the_screen_is_drawn)
{
	const int before[] = {dup(STDIN_FILENO), dup(STDOUT_FILENO)};
	struct events events;
	sigset_t pending;

	fflush(NULL);
	use_terminal();
	const int err = events_open(&events), opened = screen_open();
	kill(getpid(), SIGTSTP);
	screen_put(0, 0, 10, SCREEN_PLAIN, "text");
	screen_show();
	sigpending(&pending);
	screen_close();
	for (int fd = 0; fd < 2; fd++)
		dup2(before[fd], fd);
	CHECK_EQ(err, 0);
	CHECK_EQ(opened, 0);
	CHECK_EQ(sigismember(&pending, SIGTSTP), 1);
	close(events.signal_fd);
}

UNIT_MAIN()
