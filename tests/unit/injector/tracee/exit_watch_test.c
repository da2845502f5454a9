/* SPDX-License-Identifier: MIT */
/* exit_watch_test.c - programs that are held at their exit, and those that must not be. */
#include "exit_watch.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "arch.h"
#include "tracee.h"
#include "victim.h"

#define THREADS 5
#define SIGNALS 50
#define MARK 0x1234567890abcdefull

static volatile uint64_t marked;
static volatile int told; /* of the child: signals that have come */
static int ready[2], go[2];

static void say_ready(void)
{
	if (write(ready[1], "", 1) != 1)
		_exit(99);
}

static void await(int fd)
{
	char byte;

	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
}

static void *wait_forever(void *argument)
{
	say_ready();
	for (;;)
		pause();
	return argument;
}

static void *end_at_once(void *argument)
{
	return argument;
}

static void start_thread(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL))
		_exit(98);
}

/* Forks a child that is watched before it runs on. */
static pid_t watched(void (*run)(void))
{
	CHECK(!pipe(ready) && !pipe(go));
	fflush(NULL);
	const pid_t pid = fork();

	if (pid == 0) {
		await(go[0]);
		run();
		_exit(0);
	}
	ptrace_keep_status(pid);
	CHECK_EQ(exit_watch_begin(pid, NULL, NULL), 0);
	CHECK(write(go[1], "", 1) == 1);
	return pid;
}

/* Only after exit_watch_end(): a wait of this thread would take the stops from the watch. */
static int end_of(pid_t pid)
{
	int status = 0;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

static void check_held(pid_t pid, size_t threads)
{
	struct memory memory;
	uint64_t value = 0;
	size_t count;

	WAIT_FOR(exit_watch_look() == EXIT_WATCH_HELD);
	const struct thread_words *words = exit_watch_threads(&count);
	CHECK_EQ(count, threads);
	for (size_t i = 0; i < count; i++) {
		CHECK(words[i].sp && words[i].thread_pointer &&
		      words[i].count >= sizeof(struct arch_regs) / 8);
	}
	CHECK_EQ(memory_open(&memory, pid, words[0].tid), 0);
	CHECK_EQ(memory_read_u64(&memory, (remote_addr)(uintptr_t)&marked, &value), 0);
	CHECK_EQ(value, MARK);
	memory_close(&memory);
}

static void exit_with_threads(void)
{
	for (int i = 0; i < THREADS; i++) {
		start_thread(wait_forever);
		await(ready[0]);
	}
	marked = MARK;
	_exit(7); /* exit handlers of a sanitizer mind that they are traced */
}

UNIT_TEST(all_threads_are_held_at_the_exit_and_the_status_is_kept)
{
	const pid_t pid = watched(exit_with_threads);

	check_held(pid, THREADS + 1);
	exit_watch_end();
	const int status = end_of(pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 7);
	CHECK_EQ(exit_watch_look(), EXIT_WATCH_NONE);
}

static void *exit_from_thread(void *argument)
{
	marked = MARK;
	_exit(8);
	return argument;
}

static void let_another_exit(void)
{
	start_thread(exit_from_thread);
	pthread_exit(NULL); /* the first thread ends alone, and is not held */
}

UNIT_TEST(the_last_thread_need_not_be_the_first)
{
	const pid_t pid = watched(let_another_exit);

	WAIT_FOR(exit_watch_look() == EXIT_WATCH_HELD);
	exit_watch_end();
	CHECK_EQ(WEXITSTATUS(end_of(pid)), 8);
}

static void come_and_go(void)
{
	for (int i = 0; i < 200; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, end_at_once, NULL) || pthread_join(thread, NULL))
			_exit(97);
	}
	marked = MARK;
}

UNIT_TEST(threads_that_end_alone_are_let_go)
{
	const pid_t pid = watched(come_and_go);

	check_held(pid, 1);
	exit_watch_end();
	CHECK_EQ(end_of(pid), 0);
}

static void wait_for_signal(void)
{
	start_thread(wait_forever);
	say_ready();
	for (;;)
		pause();
}

UNIT_TEST(who_is_killed_is_not_held)
{
	static const int signals[] = {SIGKILL, SIGTERM};

	for (size_t i = 0; i < 2; i++) {
		const pid_t pid = watched(wait_for_signal);

		await(ready[0]);
		await(ready[0]);
		kill(pid, signals[i]);
		WAIT_FOR(exit_watch_look() != EXIT_WATCH_GOES);
		CHECK_EQ(exit_watch_look(), EXIT_WATCH_SIGNAL);
		exit_watch_end();
		CHECK_EQ(WTERMSIG(end_of(pid)), signals[i]);
	}
}

static void execute(void)
{
	start_thread(wait_forever);
	await(ready[0]);
	execl("/bin/sh", "sh", "-c", "exit 9", NULL);
	_exit(96);
}

static void *execute_in_thread(void *argument)
{
	execl("/bin/sh", "sh", "-c", "exit 9", NULL);
	_exit(96);
	return argument;
}

static void execute_elsewhere(void)
{
	start_thread(wait_forever);
	await(ready[0]);
	start_thread(execute_in_thread);
	for (;;)
		pause();
}

UNIT_TEST(an_exec_is_not_kept_waiting)
{
	void (*const ways[])(void) = {execute, execute_elsewhere};

	for (size_t i = 0; i < 2; i++) {
		const pid_t pid = watched(ways[i]);
		int status = 0;

		/* its shell may be held at its own exit */
		WAIT_FOR(exit_watch_look() != EXIT_WATCH_GOES);
		exit_watch_end();
		status = end_of(pid);
		CHECK(WIFEXITED(status));
		CHECK_EQ(WEXITSTATUS(status), 9);
	}
}

static void count_signal(int signal)
{
	(void)signal;
	told++;
}

static void take_signals(void)
{
	signal(SIGUSR1, count_signal);
	signal(SIGWINCH, SIG_IGN);
	say_ready();
	for (int i = 0; i < SIGNALS; i++) {
		while (told <= i)
			usleep(100);
		say_ready();
	}
	marked = MARK;
}

UNIT_TEST(signals_arrive_each_once)
{
	const pid_t pid = watched(take_signals);

	await(ready[0]);
	for (int i = 0; i < SIGNALS; i++) {
		kill(pid, SIGWINCH);
		kill(pid, SIGUSR1);
		await(ready[0]);
	}
	check_held(pid, 1);
	exit_watch_end();
	CHECK_EQ(end_of(pid), 0);
}

static void go_on_after_stop(void)
{
	marked = MARK;
	say_ready();
	await(go[0]);
}

UNIT_TEST(a_stop_by_a_signal_lasts_until_it_is_continued)
{
	const pid_t pid = watched(go_on_after_stop);

	await(ready[0]);
	CHECK(!exit_watch_is_stopped());
	kill(pid, SIGSTOP);
	WAIT_FOR(exit_watch_is_stopped());
	CHECK(write(go[1], "", 1) == 1);
	victim_pause_us(50000);
	CHECK(exit_watch_is_stopped());
	CHECK_EQ(exit_watch_look(), EXIT_WATCH_GOES);
	kill(pid, SIGCONT);
	check_held(pid, 1);
	CHECK(!exit_watch_is_stopped());
	exit_watch_end();
	CHECK_EQ(end_of(pid), 0);
}

static int stop_it(void *context)
{
	struct tracee tracee;
	const pid_t pid = *(pid_t *)context;
	const int err = tracee_stop(&tracee, pid, pid, UNIT_PATIENCE_MS);

	return err ? err : tracee_detach(&tracee);
}

UNIT_TEST(others_may_trace_it_in_between)
{
	pid_t pid = watched(exit_with_threads);

	for (int i = 0; i < 20; i++) {
		const int err = tracee_worker(stop_it, &pid);

		if (err)
			WAIT_FOR(exit_watch_look() != EXIT_WATCH_GOES);
		if (exit_watch_look() == EXIT_WATCH_MISSED)
			break; /* it has exited just then */
	}
	WAIT_FOR(exit_watch_look() != EXIT_WATCH_GOES);
	CHECK(exit_watch_look() == EXIT_WATCH_HELD || exit_watch_look() == EXIT_WATCH_MISSED);
	exit_watch_end();
	CHECK_EQ(WEXITSTATUS(end_of(pid)), 7);
}

static void await_child(pid_t child)
{
	int status = 0;

	if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 5)
		_exit(95);
}

static void end_first(void)
{
	start_thread(wait_forever);
	pthread_exit(NULL);
}

static char state_of(pid_t pid)
{
	struct proc_status status = {0};

	return proc_status_read(pid, pid, &status) ? 0 : status.state;
}

UNIT_TEST(it_is_taken_up_again_where_the_first_thread_has_ended)
{
	const pid_t pid = watched(end_first);

	await(ready[0]);
	WAIT_FOR(state_of(pid) == 'Z');
	exit_watch_suspend();
	CHECK_EQ(exit_watch_look(), EXIT_WATCH_GOES);
	exit_watch_resume();
	CHECK_EQ(exit_watch_look(), EXIT_WATCH_GOES);
	kill(pid, SIGKILL);
	WAIT_FOR(exit_watch_look() != EXIT_WATCH_GOES);
	exit_watch_end();
	CHECK_EQ(WTERMSIG(end_of(pid)), SIGKILL);
}

static void fork_and_exit(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(5);
	await_child(child);
	child = vfork();
	if (child == 0)
		_exit(5);
	await_child(child);
	marked = MARK;
}

UNIT_TEST(what_it_forks_is_left_alone)
{
	const pid_t pid = watched(fork_and_exit);

	check_held(pid, 1);
	exit_watch_end();
	CHECK_EQ(end_of(pid), 0);
}

UNIT_TEST(what_cannot_be_traced_is_said)
{
	CHECK_EQ(exit_watch_begin(getpid(), NULL, NULL), -EPERM);
	CHECK_EQ(exit_watch_look(), EXIT_WATCH_NONE);
	exit_watch_end();
}

UNIT_MAIN()
