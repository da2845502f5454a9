/* SPDX-License-Identifier: MIT */
/*
 * hold_test.c - who holds a thread is_boosted, and only for as long; the thread's own priority
 * stays what it is.
 */
#include "hold.h"

#include "pace.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "victim.h"

static void spin(struct victim_page *page)
{
	page->ready = 1;
	for (;; page->progress++)
		;
}

static bool may_hurry(void)
{
	return geteuid() == 0;
}

static bool is_hurrying(void)
{
	return sched_getscheduler(0) == SCHED_FIFO ||
	       getpriority(PRIO_PROCESS, 0) < getpriority(PRIO_PROCESS, (id_t)getpid());
}

static int hold_two(void *context)
{
	const struct victim *victim = context;
	struct tracee first, second;
	CHECK(!is_hurrying());
	CHECK_EQ(tracee_stop(&first, victim[0].pid, victim[0].pid, UNIT_PATIENCE_MS), 0);
	CHECK(is_hurrying());
	CHECK_EQ(sched_getscheduler(victim[0].pid), SCHED_OTHER);
	CHECK_EQ(getpriority(PRIO_PROCESS, (id_t)victim[0].pid),
		 getpriority(PRIO_PROCESS, (id_t)getpid()));
	CHECK_EQ(tracee_stop(&second, victim[1].pid, victim[1].pid, UNIT_PATIENCE_MS), 0);
	CHECK_EQ(tracee_detach(&first), 0);
	CHECK_EQ(tracee_detach(&first), 0); /* counts once */
	CHECK(is_hurrying());
	CHECK_EQ(tracee_detach(&second), 0);
	CHECK(!is_hurrying());
	CHECK_EQ(sched_getscheduler(0), SCHED_OTHER);
	/* what was not stopped is not held */
	CHECK(tracee_stop(&first, victim[0].pid, 0x3fffffff, UNIT_PATIENCE_MS) != 0);
	CHECK(!is_hurrying());
	return 0;
}

UNIT_TEST(hurries_while_a_thread_is_held)
{
	struct victim victim[2];
	if (!may_hurry())
		SKIP("needs root");
	victim_start(&victim[0], spin);
	victim_start(&victim[1], spin);
	CHECK_EQ(tracee_worker(hold_two, victim), 0);
	victim_end(&victim[0]);
	victim_end(&victim[1]);
}

static int hold_as_batch(void *unused)
{
	CHECK_EQ(sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0}), 0);
	hold_begin();
	CHECK_EQ(sched_getscheduler(0), SCHED_BATCH);
	hold_end();
	CHECK_EQ(sched_getscheduler(0), SCHED_BATCH);
	return unused != NULL;
}

UNIT_TEST(a_policy_that_was_chosen_is_left_alone)
{
	CHECK_EQ(tracee_worker(hold_as_batch, NULL), 0);
}

static uint64_t slice_ns(void)
{
	/*
	 * struct sched_attr, whose header contradicts <sched.h>; the fourth word is sched_runtime
	 */
	uint64_t attr[6];
	CHECK_EQ(syscall(SYS_sched_getattr, 0, attr, sizeof(attr), 0), 0);
	return attr[3];
}

static int give_way_and_hold(void *unused)
{
	const uint64_t before = slice_ns();
	pace_give_way();
	const uint64_t wanted = slice_ns();
	if (wanted == before)
		return -ENOTSUP;
	CHECK(wanted > before);
	hold_begin();
	hold_end();
	CHECK_EQ(slice_ns(), wanted);
	CHECK_EQ(sched_getscheduler(0), SCHED_OTHER);
	return unused != NULL;
}

UNIT_TEST(gives_way_again_afterwards)
{
	const int err = tracee_worker(give_way_and_hold, NULL);
	if (err == -ENOTSUP)
		SKIP("this kernel has no slices to ask for (Linux 6.12)");
	CHECK_EQ(err, 0);
}

UNIT_MAIN()
