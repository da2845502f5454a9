/* SPDX-License-Identifier: MIT */
/* tracee_test.c - stops, waits and lettings-go of threads that do not always play along. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "victim.h"

/* ---- victims --------------------------------------------------------------------------------- */

static volatile uint64_t step_count;

__attribute__((noinline)) static void step(struct victim_page *page)
{
	step_count++;
	page->progress++;
}

static void steps(struct victim_page *page)
{
	page->ready = 1;
	for (;;)
		step(page);
}

static void vfork_parent(struct victim_page *page)
{
	victim_stand_in_vfork(page);
	steps(page);
}

static void *short_life(void *page)
{
	step(page);
	return NULL;
}

static void thread_churn(struct victim_page *page)
{
	page->ready = 1;
	for (;;) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, short_life, page) == 0)
			pthread_join(thread, NULL);
	}
}

static void exec_when_asked(struct victim_page *page)
{
	page->ready = 1;
	while (!page->asked)
		victim_pause_us(1000);
	execl("/bin/sleep", "sleep", "10", (char *)NULL);
}

/* In a call that any stop ends with EINTR unless somebody has it made again. */
static void wait_for_signal(struct victim_page *page)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	page->ready = 1;
	for (;;)
		if (sigtimedwait(&set, NULL, &(struct timespec){.tv_sec = 1000}) < 0 &&
		    errno == EINTR)
			page->interrupted++;
}

/* The same. Any other error counts, too. */
static void wait_for_events(struct victim_page *page)
{
	const int epoll = epoll_create1(0);
	struct epoll_event event;

	page->ready = 1;
	for (;;)
		if (epoll_wait(epoll, &event, 1, 1000000) < 0)
			page->interrupted++;
}

static void use_one_cpu(int policy)
{
	cpu_set_t allowed, one;
	int cpu = 0;

	CHECK_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	CHECK_EQ(sched_setscheduler(0, policy, &(struct sched_param){.sched_priority = 0}), 0);
}

/* In a call that has a time limit, and that a stop ends with EINTR even when that is over. */
static void wait_for_data(struct victim_page *page)
{
	const struct timeval limit = {.tv_usec = 5000};
	int pair[2];
	char byte;

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	CHECK_EQ(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
	use_one_cpu(SCHED_IDLE);
	page->ready = 1;
	for (;;)
		if (recv(pair[0], &byte, 1, 0) < 0 && errno == EINTR)
			page->interrupted++;
}

static void keep_cpu(struct victim_page *page)
{
	use_one_cpu(SCHED_OTHER);
	steps(page);
}

/* ---- stopping -------------------------------------------------------------------------------- */

UNIT_TEST(stopped_thread_stands_still_until_it_is_detached)
{
	struct victim victim;
	struct tracee tracee;
	struct proc_status status;

	victim_start(&victim, steps);
	CHECK_EQ(tracee_stop(&tracee, victim.pid, victim.pid, UNIT_PATIENCE_MS), 0);
	CHECK_EQ(tracee.state, TRACEE_STOPPED);
	uint64_t progress = victim.page->progress;
	usleep(5000);
	CHECK_EQ(victim.page->progress, progress);
	CHECK_EQ(tracee_detach(&tracee), 0);
	CHECK_EQ(tracee_detach(&tracee), 0);
	CHECK_EQ(tracee.state, TRACEE_NONE);
	victim_check(&victim);
	CHECK_EQ(proc_status_read(victim.pid, victim.pid, &status), 0);
	CHECK_EQ(status.tracer, 0);
	victim_end(&victim);
}

UNIT_TEST(registers_are_read_and_written)
{
	struct victim victim;
	struct tracee tracee;
	struct arch_regs regs, again;
	static _Alignas(64) uint8_t xstate[ARCH_XSTATE_MAX];
	size_t size = sizeof(xstate);
	uint64_t mask, mask_again;

	victim_start(&victim, steps);
	CHECK_EQ(tracee_stop(&tracee, victim.pid, victim.pid, UNIT_PATIENCE_MS), 0);
	CHECK_EQ(tracee_get_regs(&tracee, &regs), 0);
	CHECK(arch_is_native(&regs));
	CHECK(maps_find(&victim.maps, arch_pc(&regs))->executable);
	CHECK_EQ(tracee_set_regs(&tracee, &regs), 0);
	CHECK_EQ(tracee_get_regs(&tracee, &again), 0);
	CHECK(memcmp(&regs, &again, sizeof(regs)) == 0);
	CHECK_EQ(tracee_get_xstate(&tracee, xstate, &size), 0);
	CHECK(size >= 528 && size < sizeof(xstate));
	CHECK_EQ(tracee_set_xstate(&tracee, xstate, size), 0);
	CHECK_EQ(tracee_get_sigmask(&tracee, &mask), 0);
	CHECK_EQ(tracee_set_sigmask(&tracee, mask | 1ull << (SIGUSR1 - 1)), 0);
	CHECK_EQ(tracee_get_sigmask(&tracee, &mask_again), 0);
	CHECK_EQ(mask_again, mask | 1ull << (SIGUSR1 - 1));
	CHECK_EQ(tracee_set_sigmask(&tracee, mask), 0);
	CHECK_EQ(tracee_detach(&tracee), 0);
	victim_check(&victim);
	victim_end(&victim);
}

UNIT_TEST(errors_say_why)
{
	struct victim victim;
	struct tracee tracee, second;

	victim_start(&victim, steps);
	CHECK_EQ(tracee_stop(&tracee, victim.pid, victim.pid, UNIT_PATIENCE_MS), 0);
	/* one tracer at a time */
	CHECK_EQ(tracee_stop(&second, victim.pid, victim.pid, UNIT_PATIENCE_MS), -EPERM);
	CHECK_EQ(tracee_detach(&tracee), 0);
	kill(victim.pid, SIGKILL);
	WAIT_FOR(victim_state(&victim) == 'Z');
	CHECK_EQ(tracee_stop(&tracee, victim.pid, victim.pid, UNIT_PATIENCE_MS), -ESRCH);
	victim_end(&victim);
}

/* The kernel lets go of a thread that does not stop when the tracing thread ends, and only then. */
static int stop_in_vain(void *argument)
{
	struct victim *victim = argument;
	struct tracee tracee;

	return tracee_stop(&tracee, victim->pid, victim->pid, 30);
}

UNIT_TEST(vfork_parent_is_given_up_in_time_and_let_go)
{
	struct victim victim;
	struct proc_status status;

	victim_start(&victim, vfork_parent);
	CHECK_EQ(tracee_worker(stop_in_vain, &victim), -ETIMEDOUT);
	WAIT_FOR(proc_status_read(victim.pid, victim.pid, &status) == 0 && status.tracer == 0);
	victim.page->asked = 1;
	victim_check(&victim);
	victim_end(&victim);
}

static int stop_late(void *argument)
{
	struct victim *victim = argument;
	struct tracee tracee;

	CHECK_EQ(tracee_stop(&tracee, victim->pid, victim->pid, 30), -ETIMEDOUT);
	victim->page->asked = 1;
	CHECK_EQ(tracee_stop(&tracee, victim->pid, victim->pid, UNIT_PATIENCE_MS), 0);
	return tracee_detach(&tracee);
}

UNIT_TEST(a_thread_that_did_not_stop_in_time_may_be_asked_again)
{
	struct victim victim;

	victim_start(&victim, vfork_parent);
	CHECK_EQ(tracee_worker(stop_late, &victim), 0);
	victim_check(&victim);
	victim_end(&victim);
}

static int stop_and_do_something_else(void *argument)
{
	struct victim *victim = argument;
	struct tracee tracee;

	CHECK_EQ(tracee_stop(&tracee, victim->pid, victim->pid, 30), -ETIMEDOUT);
	victim->page->asked = 1;
	WAIT_FOR(tracee_nap(), victim->page->progress != 0);
	victim_check(victim);
	return 0;
}

UNIT_TEST(a_thread_that_stops_too_late_does_not_stand_until_the_tracer_ends)
{
	struct victim victim;

	victim_start(&victim, vfork_parent);
	CHECK_EQ(tracee_worker(stop_and_do_something_else, &victim), 0);
	victim_end(&victim);
}

static int stop_and_detach(void *argument)
{
	struct victim *victim = argument;
	struct tracee tracee;

	CHECK_EQ(tracee_stop(&tracee, victim->pid, victim->pid, UNIT_PATIENCE_MS), 0);
	return tracee_detach(&tracee);
}

/* It stops while it is being let go of. */
static int stop_at_once_or_not(void *argument)
{
	struct victim *victim = argument;
	struct tracee tracee;

	return tracee_stop(&tracee, victim->pid, victim->pid, 0) ? 0 : tracee_detach(&tracee);
}

static int interrupt_and_abandon(void *argument)
{
	struct victim *victim = argument;
	struct tracee tracee;
	const int err = tracee_interrupt(&tracee, victim->pid, victim->pid);

	if (!err)
		tracee_abandon(&tracee);
	return err;
}

UNIT_TEST(no_call_fails_however_its_thread_is_let_go)
{
	int (*const way[])(void *) = {stop_and_detach, stop_at_once_or_not, interrupt_and_abandon};
	struct victim victim;

	victim_start(&victim, wait_for_signal);
	for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		for (int time = 0; time < 100; time++) {
			WAIT_FOR(victim_state(&victim) == 'S');
			CHECK_EQ(tracee_worker(way[i], &victim), 0);
		}
		WAIT_FOR(victim_state(&victim) == 'S');
		if (victim.page->interrupted)
			UNIT_FAIL("way %zu: EINTR %lu times", i,
				  (unsigned long)victim.page->interrupted);
	}
	victim_end(&victim);
}

/* It was seen in another call at the same place, which has ended since. */
static void see_call_before(struct tracee *tracee)
{
	tracee->before.first_argument = 999;
	tracee->before.waits--;
}

static void see_signal_since(struct tracee *tracee)
{
	see_call_before(tracee);
	tracee->is_followed = false;
}

/* Stops a thread of which that was seen; returns how many more calls have failed. */
static uint64_t failures_of_stop(const struct victim *victim, void (*change)(struct tracee *))
{
	const uint64_t before = victim->page->interrupted;
	struct tracee tracee;
	struct proc_status now, later;

	WAIT_FOR(victim_state(victim) == 'S');
	CHECK_EQ(tracee_interrupt(&tracee, victim->pid, victim->pid), 0);
	change(&tracee);
	WAIT_FOR(tracee_has_stopped(&tracee) == 0);
	CHECK_EQ(proc_status_read(victim->pid, victim->pid, &now), 0);
	CHECK_EQ(tracee_detach(&tracee), 0);
	WAIT_FOR(proc_status_read(victim->pid, victim->pid, &later) == 0 && later.state == 'S' &&
		 later.waits > now.waits);
	return victim->page->interrupted - before;
}

UNIT_TEST(a_call_that_began_after_the_look_does_not_fail)
{
	struct victim victim;

	victim_start(&victim, wait_for_events);
	for (int time = 0; time < 20; time++)
		CHECK_EQ(failures_of_stop(&victim, see_call_before), 0);
	victim_end(&victim);
}

UNIT_TEST(a_call_that_a_handler_may_have_ended_is_not_begun_anew)
{
	const uint64_t failures = ARCH_STOP_ENDS_CALLS; /* else the kernel knows of handlers */
	struct victim victim;

	victim_start(&victim, wait_for_events);
	CHECK_EQ(failures_of_stop(&victim, see_signal_since), failures);
	victim_end(&victim);
}

/* Looks at it while it waits; it is woken then, and has not run yet. */
static void see_wait_before(const struct victim *victim, struct tracee_look *out_look)
{
	const pid_t pid = victim->pid;

	for (;;) {
		uint64_t turns = 0;

		WAIT_FOR(victim_state(victim) == 'S');
		turns = tracee_look_at(pid, pid, out_look);
		if (ARCH_STOP_ENDS_CALLS && !out_look->call.is_known)
			continue;
		while (proc_turns(pid, pid) == turns)
			if (victim_state(victim) == 'R')
				return;
	}
}

UNIT_TEST(a_call_of_a_thread_that_lacks_a_cpu_does_not_fail)
{
	struct victim victim, busy;

	victim_start(&victim, wait_for_data);
	victim_start(&busy, keep_cpu);
	for (int time = 0; time < 10; time++) {
		struct tracee tracee;
		struct tracee_look look;

		see_wait_before(&victim, &look);
		CHECK_EQ(tracee_halt(&tracee, victim.pid, victim.pid, &look), 0);
		WAIT_FOR(tracee_has_stopped(&tracee) == 0);
		CHECK_EQ(tracee_detach(&tracee), 0);
	}
	victim_end(&busy);
	WAIT_FOR(victim_state(&victim) == 'S');
	CHECK_EQ(victim.page->interrupted, 0);
	victim_end(&victim);
}

static int stop_and_signal(void *argument)
{
	struct victim *victim = argument;
	struct tracee tracee;

	CHECK_EQ(tracee_stop(&tracee, victim->pid, victim->pid, UNIT_PATIENCE_MS), 0);
	CHECK_EQ(kill(victim->pid, SIGUSR1), 0);
	return tracee_detach(&tracee);
}

/* As it would have without the stop. A program that waits for its handler so goes on. */
UNIT_TEST(a_handler_that_comes_meanwhile_ends_the_call)
{
	struct victim victim;

	victim_start(&victim, victim_wait_for_handler);
	for (uint64_t time = 0; time < 20; time++) {
		WAIT_FOR(victim_state(&victim) == 'S');
		CHECK_EQ(victim.page->interrupted, time);
		CHECK_EQ(tracee_worker(stop_and_signal, &victim), 0);
		WAIT_FOR(victim.page->interrupted == time + 1);
		CHECK_EQ(victim.page->handled, time + 1);
	}
	victim_end(&victim);
}

UNIT_TEST(threads_that_end_are_no_obstacle)
{
	struct victim victim;
	unsigned stopped = 0, gone = 0;

	victim_start(&victim, thread_churn);
	for (int i = 0; i < 300; i++) {
		pid_t *tids;
		size_t count;
		struct tracee tracee;

		CHECK_EQ(proc_tasks(victim.pid, &tids, &count), 0);
		int err = tracee_stop(&tracee, victim.pid, tids[count - 1], UNIT_PATIENCE_MS);
		free(tids);
		CHECK(err == 0 || err == -ESRCH);
		stopped += err == 0;
		gone += err != 0;
		if (!err)
			CHECK_EQ(tracee_detach(&tracee), 0);
	}
	printf("# %s: %u stopped, %u gone\n", unit_current, stopped, gone);
	victim_check(&victim);
	victim_end(&victim);
}

UNIT_TEST(target_killed_in_our_hands_dies)
{
	struct victim victim;
	struct tracee tracee;

	victim_start(&victim, steps);
	CHECK_EQ(tracee_stop(&tracee, victim.pid, victim.pid, UNIT_PATIENCE_MS), 0);
	kill(victim.pid, SIGKILL);
	usleep(5000);
	CHECK_EQ(tracee_detach(&tracee), 0);
	WAIT_FOR(waitpid(victim.pid, NULL, WNOHANG) == victim.pid);
	victim_forget(&victim);
}

UNIT_TEST(target_killed_while_it_runs_for_us_dies)
{
	struct victim victim;
	struct tracee tracee;

	victim_start(&victim, steps); /* makes no system call */
	CHECK_EQ(tracee_stop(&tracee, victim.pid, victim.pid, UNIT_PATIENCE_MS), 0);
	if (fork() == 0) {
		usleep(20000);
		kill(victim.pid, SIGKILL);
		_exit(0);
	}
	CHECK_EQ(tracee_run_to_syscall(&tracee, UNIT_PATIENCE_MS), -ESRCH);
	CHECK_EQ(tracee.state, TRACEE_GONE);
	WAIT_FOR(waitpid(victim.pid, NULL, WNOHANG) == victim.pid);
	victim_forget(&victim);
	CHECK_EQ(tracee_detach(&tracee), 0);
}

UNIT_TEST(exec_ends_the_tracee)
{
	struct victim victim;
	struct tracee tracee;

	victim_start(&victim, exec_when_asked);
	CHECK_EQ(tracee_stop(&tracee, victim.pid, victim.pid, UNIT_PATIENCE_MS), 0);
	victim.page->asked = 1;
	int err = 0;
	while (!err)
		err = tracee_run_to_syscall(&tracee, UNIT_PATIENCE_MS);
	CHECK_EQ(err, -ESRCH);
	CHECK_EQ(tracee.state, TRACEE_GONE);
	CHECK_EQ(tracee_detach(&tracee), 0);
	CHECK(!memory_is_alive(&victim.memory));
	CHECK_EQ(kill(victim.pid, 0), 0);
	victim_end(&victim);
}

UNIT_MAIN()
