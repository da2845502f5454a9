/* SPDX-License-Identifier: MIT */
/* exit_status: how a process has ended, before and after somebody has waited for it. */
#include "exit_status.h"

#include <errno.h>
#include <sys/syscall.h>

#include "unit.h"

/* A child that ends so, once it is told to; its pidfd. */
static int child_that(void (*ends)(void), pid_t *out_pid)
{
	int go[2];
	char byte;

	CHECK_EQ(pipe(go), 0);
	*out_pid = fork();
	if (*out_pid == 0) {
		close(go[1]);
		if (read(go[0], &byte, 1) == 0)
			ends();
		_exit(99);
	}
	const int pidfd = (int)syscall(SYS_pidfd_open, *out_pid, 0);
	int status;
	CHECK(pidfd >= 0);
	CHECK_EQ(exit_status_read(*out_pid, pidfd, &status), -ESRCH);
	close(go[0]);
	close(go[1]);
	return pidfd;
}

static void await_zombie(pid_t pid)
{
	siginfo_t seen;

	CHECK_EQ(waitid(P_PID, (id_t)pid, &seen, WEXITED | WNOWAIT), 0);
}

static void exit_3(void)
{
	_exit(3);
}

static void exit_0(void)
{
	_exit(0);
}

static void kill_itself(void)
{
	raise(SIGKILL);
}

UNIT_TEST(of_a_zombie)
{
	pid_t pid;
	int status = -1, pidfd = child_that(exit_3, &pid);

	await_zombie(pid);
	CHECK_EQ(exit_status_read(pid, pidfd, &status), 0);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 3);
	pidfd = child_that(kill_itself, &pid);
	await_zombie(pid);
	CHECK_EQ(exit_status_read(pid, pidfd, &status), 0);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGKILL);
}

UNIT_TEST(of_a_process_that_was_waited_for)
{
	static void (*const ways[])(void) = {exit_3, exit_0, kill_itself};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		pid_t pid;
		int status = -1, truth = -1;
		const int pidfd = child_that(ways[i], &pid);

		CHECK_EQ(waitpid(pid, &truth, 0), pid);
		if (exit_status_read(pid, pidfd, &status))
			SKIP("this kernel does not tell it");
		CHECK_EQ(status, truth);
	}
}

UNIT_MAIN()
