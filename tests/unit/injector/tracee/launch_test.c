/* SPDX-License-Identifier: MIT */
/* launch_test.c - a program that is stopped before it runs, and whose exit status is not lost. */
#include "launch.h"

#include <errno.h>
#include <sys/wait.h>

#include "remote.h"
#include "exit_watch.h"
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

static int let_go(pid_t pid)
{
	struct remote_gadgets gadgets;
	struct memory memory;
	struct maps maps;
	int err = memory_open(&memory, pid, pid);

	if (!err)
		err = maps_read(pid, pid, &maps);
	if (!err)
		err = remote_gadgets_find(&maps, &memory, &gadgets);
	if (!err)
		err = launch_let_go(pid, &memory, &gadgets, false);
	return err;
}

/* A process that launches a program, lets it go or not, and waits. */
static pid_t launcher(char **argv, bool lets_go, pid_t *out_pid)
{
	int told[2];

	CHECK_EQ(pipe(told), 0);
	const pid_t launcher = fork();
	if (launcher == 0) {
		struct launch start = {.argv = argv};
		pid_t pid = 0;

		alarm(UNIT_TIME_LIMIT_S); /* whatever becomes of us */
		if (launch(&start, &pid) || (lets_go && let_go(pid)))
			_exit(1);
		_exit(write(told[1], &pid, sizeof(pid)) < 0 || pause());
	}
	close(told[1]);
	CHECK_EQ(read(told[0], out_pid, sizeof(*out_pid)), sizeof(*out_pid));
	close(told[0]);
	return launcher;
}

static void end_launcher(pid_t launcher)
{
	kill(launcher, SIGKILL);
	CHECK_EQ(WTERMSIG(end_of(launcher)), SIGKILL);
}

UNIT_TEST(until_it_is_let_go_it_dies_with_its_parent)
{
	char *argv[] = {sleep_path, forever, NULL};
	struct proc_status status;
	pid_t pid;
	const pid_t parent = launcher(argv, false, &pid);

	wait_state(pid, 'T');
	end_launcher(parent);
	for (unsigned looks = 0; looks < 10000; looks++) {
		if (proc_status_read(pid, pid, &status) || status.state == 'Z')
			return;
		victim_pause_us(1000);
	}
	kill(pid, SIGKILL);
	UNIT_FAIL("it is left in state %c", status.state);
}

UNIT_TEST(let_go_it_outlives_its_parent)
{
	char *argv[] = {sleep_path, forever, NULL};
	struct proc_status status;
	pid_t pid;
	const pid_t parent = launcher(argv, true, &pid);

	wait_state(pid, 'S');
	end_launcher(parent);
	victim_pause_us(20000);
	const int err = proc_status_read(pid, pid, &status);
	kill(pid, SIGKILL);
	CHECK_EQ(err, 0);
	CHECK_EQ(status.state, 'S');
}

/* It ends within a millisecond, which must not be before it is traced. */
UNIT_TEST(let_go_it_is_watched_from_its_first_instruction_on)
{
	for (unsigned round = 0; round < 20; round++) {
		char *argv[] = {true_path, NULL};
		const pid_t pid = launched(argv);
		struct remote_gadgets gadgets;
		struct memory memory;
		struct maps maps;

		CHECK_EQ(memory_open(&memory, pid, pid), 0);
		CHECK_EQ(maps_read(pid, pid, &maps), 0);
		CHECK_EQ(remote_gadgets_find(&maps, &memory, &gadgets), 0);
		ptrace_keep_status(pid);
		CHECK_EQ(launch_let_go(pid, &memory, &gadgets, true), 0);
		WAIT_FOR(exit_watch_look() != EXIT_WATCH_GOES);
		CHECK_EQ(exit_watch_look(), EXIT_WATCH_HELD);
		exit_watch_end();
		CHECK_EQ(end_of(pid), 0);
		maps_close(&maps);
		memory_close(&memory);
	}
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
