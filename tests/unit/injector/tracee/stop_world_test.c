/* SPDX-License-Identifier: MIT */
/*
 * stop_world: threads of a child that work, sleep, or stand in vfork are all still at once, or none
 * is held; and what that takes is bounded and counted.
 */
#include "stop_world.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "held.h"
#include "victim.h"

enum { CHILD, SHARER, HOLD_MS = 120, ROUNDS_MAX = 100 };

static void *count_on(void *page)
{
	for (;; ((struct victim_page *)page)->progress++)
		;
	return NULL;
}

static void *sleep_on(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void work_and_sleep(struct victim_page *page)
{
	pthread_t thread;
	for (int i = 0; i < 8; i++)
		pthread_create(&thread, NULL, i < 2 ? count_on : sleep_on, page);
	while (!page->progress)
		victim_pause_us(1000);
	page->ready = 1;
	sleep_on(NULL);
}

/* The child writes on, as its parent might. */
static void stand_in_vfork(struct victim_page *page, bool is_traced)
{
	pthread_t thread;
	pthread_create(&thread, NULL, count_on, page);
	while (!page->progress)
		victim_pause_us(1000);
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (is_traced)
			ptrace(PTRACE_TRACEME, 0, 0, 0);
		page->word[CHILD] = (uint64_t)getpid();
		page->ready = 1;
		for (;; page->done++)
			;
	}
}

static void stand_before_a_child(struct victim_page *page)
{
	stand_in_vfork(page, false);
}

static void stand_before_a_traced_child(struct victim_page *page)
{
	stand_in_vfork(page, true);
}

/* Nothing of it moves. */
static int watch_it(void *context)
{
	const struct victim_page *page = context;
	const uint64_t progress = page->progress, done = page->done;
	victim_pause_us(20000);
	CHECK_EQ(page->progress, progress);
	CHECK_EQ(page->done, done);
	return 0;
}

/* On a machine that is short of CPUs not the first attempt comes about. */
static void stand_still(const struct victim *victim, int (*work)(void *))
{
	uint64_t held_ns = 0;
	CHECK_EQ(stop_world_wait(victim->pid, STOP_WORLD_SLOTS, work, victim->page,
				 UNIT_PATIENCE_MS, &held_ns),
		 0);
	CHECK(held_ns > 0);
}

UNIT_TEST(all_threads_are_still_at_once_and_counted)
{
	struct victim victim;
	victim_start(&victim, work_and_sleep);
	stand_still(&victim, watch_it);
	const struct held held = held_so_far();
	const struct stop_world_account account = stop_world_account();
	CHECK_EQ(account.count[STOP_WORLD_SLOTS], 1);
	CHECK(account.longest_ns >= 20000000 && account.used_ns >= account.longest_ns);
	CHECK(account.longest_awake_ns >= 20000000 &&
	      account.longest_awake_ns <= account.longest_ns);
	CHECK(held.count >= 9 && held.longest_ns >= 20000000 &&
	      held.longest_ns <= account.longest_ns + account.given_up_longest_ns);
	CHECK(held.sum_ns >= 9 * 20000000ull && held.sum_ns <= 10 * account.used_ns);
	victim_check(&victim);
	victim_end(&victim);
}

/* A thread that got no CPU in time may have been. */
static bool is_vfork_in_the_way(void)
{
	const struct stop_world_account account = stop_world_account();
	return strstr(account.obstacle, "vfork") != NULL;
}

UNIT_TEST(a_child_of_vfork_stands_still_with_the_threads)
{
	struct victim victim;
	victim_start(&victim, stand_before_a_child);
	stand_still(&victim, watch_it);
	CHECK(!is_vfork_in_the_way());
	const uint64_t done = victim.page->done;
	WAIT_FOR(victim.page->done != done);
	victim_check(&victim);
	victim_end(&victim);
}

/*
 * The thread that stands in vfork has borne another process in the same memory, which goes on
 * writing.
 */
static int write_on(void *page)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;; ((struct victim_page *)page)->word[SHARER]++)
		;
	return 0;
}

static void stand_before_one_child_of_two(struct victim_page *page)
{
	static _Alignas(16) char stack[65536];
	if (clone(write_on, stack + sizeof(stack), CLONE_VM, page) < 0)
		_exit(1);
	stand_in_vfork(page, false);
}

static int watch_both(void *context)
{
	const struct victim_page *page = context;
	const uint64_t written = page->word[SHARER];
	watch_it(context);
	CHECK_EQ(page->word[SHARER], written);
	return 0;
}

UNIT_TEST(a_process_that_shares_the_memory_stands_still_with_the_threads)
{
	struct victim victim;
	victim_start(&victim, stand_before_one_child_of_two);
	WAIT_FOR(victim.page->word[SHARER] != 0);
	stand_still(&victim, watch_both);
	CHECK(!is_vfork_in_the_way());
	const uint64_t written = victim.page->word[SHARER];
	WAIT_FOR(victim.page->word[SHARER] != written);
	victim_check(&victim);
	victim_end(&victim);
}

static void *stay_alone(void *page)
{
	for (;; ((struct victim_page *)page)->progress++)
		;
	return NULL;
}

static void leave_it_to_a_thread(struct victim_page *page)
{
	pthread_t thread;
	pthread_create(&thread, NULL, stay_alone, page);
	page->ready = 1;
	while (!page->asked)
		victim_pause_us(1000);
	syscall(SYS_exit, 0);
}

UNIT_TEST(a_first_thread_that_has_ended_is_not_waited_for)
{
	struct victim victim;
	victim_start(&victim, leave_it_to_a_thread);
	victim.page->asked = 1;
	WAIT_FOR(blocked_state(victim.pid, victim.pid) == 'Z');
	stand_still(&victim, watch_it);
	victim_end(&victim);
}

UNIT_TEST(where_one_cannot_be_stopped_nobody_is)
{
	struct victim victim;
	uint64_t held_ns;
	char text[64];
	victim_start(&victim, stand_before_a_traced_child);
	CHECK_EQ(
		stop_world_wait(victim.pid, STOP_WORLD_SLOTS, watch_it, victim.page, 200, &held_ns),
		-EAGAIN);
	const struct stop_world_account account = stop_world_account();
	CHECK_EQ(held_so_far().count, 0);
	CHECK_EQ(account.used_ns, 0);
	CHECK_EQ(account.given_up, 0);
	snprintf(text, sizeof(text), "waits in vfork for its child %d (",
		 (int)victim.page->word[CHILD]);
	CHECK(strstr(account.obstacle, text));
	CHECK(strstr(account.obstacle, "another process traces"));
	victim_check(&victim);
	kill((pid_t)victim.page->word[CHILD], SIGKILL);
	victim_end(&victim);
}

static int take_long(void *unused)
{
	victim_pause_us(HOLD_MS * 1000);
	return unused == NULL;
}

UNIT_TEST(what_all_of_them_take_is_bounded)
{
	struct victim victim;
	uint64_t held_ns;
	unsigned rounds = 0;
	victim_start(&victim, work_and_sleep);
	while (rounds < ROUNDS_MAX && !stop_world_wait(victim.pid, STOP_WORLD_SLOTS, take_long,
						       victim.page, 20000, &held_ns))
		rounds++;
	CHECK(rounds > 0 && rounds < ROUNDS_MAX);
	struct stop_world_account account = stop_world_account();
	CHECK(account.used_ns <= account.allowed_ns + (HOLD_MS + 1000) * 1000000ull);
	const uint64_t count = held_so_far().count;
	CHECK_EQ(stop_world_do(victim.pid, STOP_WORLD_SLOTS, take_long, victim.page, &held_ns),
		 -EAGAIN);
	CHECK_EQ(held_so_far().count, count);

	stop_world_allow(1000);
	stand_still(&victim, take_long);
	victim_check(&victim);
	victim_end(&victim);
}

UNIT_TEST(another_target_has_an_account_of_its_own)
{
	struct victim victim;
	uint64_t held_ns;
	victim_start(&victim, work_and_sleep);
	stand_still(&victim, watch_it);
	const struct held before = held_so_far();
	victim_end(&victim);
	CHECK(before.count > 0 && before.longest_ns > 0 && before.sum_ns > 0);

	held_reset();
	stop_world_reset();
	const struct held held = held_so_far();
	struct stop_world_account account = stop_world_account();
	CHECK_EQ(held.count + held.longest_ns + held.sum_ns, 0);
	CHECK_EQ(account.count[STOP_WORLD_SLOTS], 0);
	CHECK_EQ(account.used_ns + account.longest_ns, 0);
	/* also what the one before has used up */
	victim_start(&victim, work_and_sleep);
	while (!stop_world_wait(victim.pid, STOP_WORLD_SLOTS, take_long, victim.page, 2000,
				&held_ns))
		;
	stop_world_reset();
	CHECK_EQ(stop_world_wait(victim.pid, STOP_WORLD_SLOTS, take_long, victim.page, 20000,
				 &held_ns),
		 0);
	victim_check(&victim);
	victim_end(&victim);
}

UNIT_TEST(a_target_that_is_gone_is_an_error_code)
{
	struct victim victim;
	uint64_t held_ns;
	victim_start(&victim, work_and_sleep);
	kill(victim.pid, SIGKILL);
	waitpid(victim.pid, NULL, 0);
	CHECK_EQ(stop_world_do(victim.pid, STOP_WORLD_SLOTS, take_long, victim.page, &held_ns),
		 -ESRCH);
	CHECK_EQ(held_ns, 0);
	victim_forget(&victim);
}

UNIT_MAIN()
