/* SPDX-License-Identifier: MIT */
/*
 * watchdog_test.c - a tracer that is frozen with a thread in its hands is killed, so that the
 * thread goes on; one that is alive, or holds nothing, is not.
 */
#include "watchdog.h"

#include <errno.h>

#include "victim.h"

#define LONGER_THAN_PATIENCE_US 4000000

static void spin(struct victim_page *page)
{
	page->ready = 1;
	for (;; page->progress++)
		;
}

static pid_t start(const struct victim *victim, void (*run)(const struct victim *victim))
{
	fflush(NULL);
	const pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)!freopen("/dev/null", "w", stderr);
		run(victim);
		_exit(0);
	}
	CHECK(pid > 0);
	return pid;
}

static void check_killed(void (*work)(struct victim_page *), void (*run)(const struct victim *))
{
	struct victim victim;
	int status;
	victim_start(&victim, work);
	const pid_t pid = start(&victim, run);
	CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
	CHECK(WIFSTOPPED(status));
	CHECK_EQ(waitpid(pid, &status, 0), pid); /* the case's time limit is the deadline */
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	victim_check(&victim);
	victim_end(&victim);
}

static int freeze_holding(void *context)
{
	const struct victim *victim = context;
	struct tracee tracee;
	if (tracee_stop(&tracee, victim->pid, victim->pid, UNIT_PATIENCE_MS))
		_exit(1);
	/*
	 * to this thread: sent to the process, it might reach another one first, and we would let
	 * go before we stop
	 */
	raise(SIGSTOP);
	return tracee_detach(&tracee);
}

static void hold_and_freeze(const struct victim *victim)
{
	(void)!tracee_worker(freeze_holding, (void *)(uintptr_t)victim);
}

UNIT_TEST(a_tracer_that_is_frozen_while_it_holds_a_thread_is_killed)
{
	check_killed(spin, hold_and_freeze);
}

static void wait_for_child(struct victim_page *page)
{
	victim_stand_in_vfork(page);
	spin(page);
}

static int freeze_after_asking(void *context)
{
	const struct victim *victim = context;
	struct tracee tracee;
	if (tracee_stop(&tracee, victim->pid, victim->pid, 30) != -ETIMEDOUT)
		_exit(1);
	victim->page->asked = 1;
	raise(SIGSTOP);
	return 0;
}

static void ask_and_freeze(const struct victim *victim)
{
	(void)!tracee_worker(freeze_after_asking, (void *)(uintptr_t)victim);
}

UNIT_SLOW_TEST(one_that_is_frozen_when_a_thread_may_still_stop_for_it_is_killed_too)
{
	check_killed(wait_for_child, ask_and_freeze);
}

/* Alive, and waiting for another thread that never comes. */
static int wait_holding(void *context)
{
	const struct victim *victim = context;
	struct tracee tracee;
	if (tracee_stop(&tracee, victim->pid, victim->pid, UNIT_PATIENCE_MS))
		_exit(1);
	for (;;)
		tracee_nap();
	return 0;
}

static void hold_and_wait(const struct victim *victim)
{
	(void)!tracee_worker(wait_holding, (void *)(uintptr_t)victim);
}

UNIT_SLOW_TEST(one_that_waits_while_it_holds_a_thread_is_killed)
{
	struct victim victim;
	int status;
	victim_start(&victim, spin);
	const pid_t pid = start(&victim, hold_and_wait);
	CHECK_EQ(waitpid(pid, &status, 0), pid); /* the case's time limit is the deadline */
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	victim_check(&victim);
	victim_end(&victim);
}

static int hold_briefly(void *context)
{
	const struct victim *victim = context;
	struct tracee tracee;
	if (tracee_stop(&tracee, victim->pid, victim->pid, UNIT_PATIENCE_MS))
		_exit(1);
	return tracee_detach(&tracee);
}

static void let_go_and_freeze(const struct victim *victim)
{
	if (tracee_worker(hold_briefly, (void *)(uintptr_t)victim))
		_exit(1);
	kill(getpid(), SIGSTOP);
}

UNIT_SLOW_TEST(one_that_holds_nothing_may_be_stopped_for_as_long_as_one_likes)
{
	struct victim victim;
	int status;
	victim_start(&victim, spin);
	const pid_t pid = start(&victim, let_go_and_freeze);
	CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
	CHECK(WIFSTOPPED(status));
	victim_pause_us(LONGER_THAN_PATIENCE_US);
	kill(pid, SIGCONT);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	victim_end(&victim);
}

static void be_slow(const struct victim *victim)
{
	(void)victim;
	watchdog_start();
	watchdog_begin();
	for (int i = 0; i < 40; i++) {
		victim_pause_us(LONGER_THAN_PATIENCE_US / 40);
		watchdog_progress();
	}
	watchdog_end();
}

UNIT_SLOW_TEST(one_that_is_slow_but_alive_is_left_alone)
{
	int status;
	const pid_t pid = start(NULL, be_slow);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void end_at_once(const struct victim *victim)
{
	(void)victim;
	watchdog_start();
	exit(0);
}

/* Its zombie would become a child of the target, where that is process 1 of a container. */
UNIT_TEST(it_is_gone_when_we_have_ended)
{
	int status;
	CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	const pid_t pid = start(NULL, end_at_once);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK_EQ(waitpid(-1, &status, 0), -1); /* no orphan has come to us */
}

UNIT_MAIN()
