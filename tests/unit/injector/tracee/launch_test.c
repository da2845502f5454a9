/* SPDX-License-Identifier: MIT */
/* launch_test.c - a program that is stopped before it runs, and whose exit status is not lost. */
#include "launch.h"

#include <errno.h>
#include <sys/wait.h>

#include "victim.h"

#define STOPS 3000
#define DEADLINE_MS 20000

static char true_path[] = "/bin/true", sleep_path[] = "/bin/sleep", forever[] = "1000";

static pid_t launched(char **argv)
{
	struct launch start = {.argv = argv};
	pid_t pid;

	CHECK_EQ(launch(&start, &pid), 0);
	return pid;
}

static void wait_state(pid_t pid, char state)
{
	struct proc_status status = {0};

	for (unsigned looks = 0; looks < 10000; looks++) {
		CHECK_EQ(proc_status_read(pid, pid, &status), 0);
		if (status.state == state && !status.tracer)
			return;
		victim_pause_us(1000);
	}
	UNIT_FAIL("state %c, not %c; tracer %d", status.state, state, (int)status.tracer);
}

static int end_of(pid_t pid)
{
	int status;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

UNIT_TEST(a_program_stands_still_untraced_until_it_is_continued)
{
	char *argv[] = {true_path, NULL};
	const pid_t pid = launched(argv);

	wait_state(pid, 'T');
	victim_pause_us(20000);
	wait_state(pid, 'T');
	kill(pid, SIGCONT);
	CHECK_EQ(end_of(pid), 0);
}

UNIT_TEST(failures_leave_no_child)
{
	static char nowhere[] = "/no/such/program", directory[] = "/";
	char *argv[] = {nowhere, NULL};
	struct launch start = {.argv = argv};
	pid_t pid;

	CHECK_EQ(launch(&start, &pid), -ENOENT);
	CHECK_EQ(start.failure, LAUNCH_NO_EXEC);
	argv[0] = directory;
	CHECK_EQ(launch(&start, &pid), -EACCES);
	CHECK_EQ(start.failure, LAUNCH_NO_EXEC);
	CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_EQ(errno, ECHILD);
}

struct stops {
	pid_t pid;
	unsigned count;
};

/* As attach and detach do it: the tracer is a thread of the parent. */
static int stop_often(void *context)
{
	const struct stops *stops = context;
	int err = 0;

	for (unsigned i = 0; i < stops->count && !err; i++) {
		struct tracee tracee;

		err = tracee_stop(&tracee, stops->pid, stops->pid, DEADLINE_MS);
		if (!err)
			err = tracee_detach(&tracee);
	}
	return err;
}

UNIT_TEST(no_stop_is_lost_where_the_status_is_kept)
{
	char *argv[] = {sleep_path, forever, NULL};
	const pid_t pid = launched(argv);

	ptrace_keep_status(pid);
	CHECK_EQ(tracee_worker(stop_often, &(struct stops){pid, STOPS}), 0);
	wait_state(pid, 'T');
	kill(pid, SIGKILL);
	CHECK_EQ(WTERMSIG(end_of(pid)), SIGKILL);
	ptrace_keep_status(0);
}

UNIT_TEST(the_tracer_does_not_take_the_exit_status)
{
	char *argv[] = {sleep_path, forever, NULL};
	const pid_t pid = launched(argv);
	int status = 0;

	ptrace_keep_status(pid);
	CHECK_EQ(ptrace_wait(pid, &status), 0);
	kill(pid, SIGTERM);
	kill(pid, SIGCONT);
	while (ptrace_wait(pid, &status) == 0)
		victim_pause_us(1000);
	CHECK(!WIFSTOPPED(status));
	CHECK_EQ(ptrace_wait(pid, &status), pid);
	CHECK_EQ(WTERMSIG(end_of(pid)), SIGTERM);
	ptrace_keep_status(0);
}

UNIT_MAIN()
