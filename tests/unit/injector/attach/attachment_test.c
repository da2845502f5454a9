/* SPDX-License-Identifier: MIT */
/* attachment: the lock, of processes that share one memory. */
#include "attachment.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "unit.h"

#define LIFETIME_SECONDS 30 /* of a process whose case has failed */
#define SHARERS 3
#define STACK_BYTES (64u << 10)

static pid_t *sharer; /* ascending: the first has created the others */

static int wait_for_ever(void *unused)
{
	alarm(LIFETIME_SECONDS);
	for (;;)
		pause();
	return unused != NULL;
}

static void share(void)
{
	for (int i = 1; i < SHARERS; i++) {
		char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		__atomic_store_n(
			&sharer[i],
			clone(wait_for_ever, stack + STACK_BYTES, CLONE_VM | SIGCHLD, NULL),
			__ATOMIC_RELEASE);
	}
	wait_for_ever(NULL);
}

static void begin(void)
{
	sharer = mmap(NULL, SHARERS * sizeof(*sharer), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(sharer != MAP_FAILED);
	CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* so that all can be waited for */
	const pid_t pid = fork();
	if (!pid)
		share();
	sharer[0] = pid;
	while (!__atomic_load_n(&sharer[SHARERS - 1], __ATOMIC_ACQUIRE))
		usleep(1000);
	for (int i = 0; i < SHARERS; i++)
		CHECK(sharer[i] > (i ? sharer[i - 1] : 0));
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, __WALL), pid);
}

static void open_one(struct attachment *attachment, pid_t pid, int expected)
{
	attachment_init(attachment, pid);
	CHECK_EQ(attachment_open(attachment, pid), expected);
	if (expected)
		attachment_close(attachment);
}

UNIT_TEST(a_memory_is_locked_by_one_process_of_those_that_share_it)
{
	struct attachment first, other;

	begin();
	open_one(&first, sharer[2], 0);
	open_one(&other, sharer[0], -EBUSY);
	open_one(&other, sharer[1], -EBUSY);
	attachment_close(&first);
	open_one(&other, sharer[1], 0);
	attachment_close(&other);
	for (int i = 0; i < SHARERS; i++)
		end(sharer[i]);
}

UNIT_TEST(also_when_the_one_with_the_lowest_number_has_ended)
{
	struct attachment first, other;

	begin();
	open_one(&first, sharer[2], 0);
	end(sharer[0]);
	open_one(&other, sharer[1], -EBUSY);
	attachment_close(&first);
	open_one(&other, sharer[1], 0);
	open_one(&first, sharer[2], -EBUSY);
	attachment_close(&other);
	end(sharer[1]);
	end(sharer[2]);
}

UNIT_MAIN()
