/* SPDX-License-Identifier: MIT */
/* children: those that fork, that execute, that share memory, and that end. */
#include "children.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include "unit.h"

#define LIFETIME_SECONDS 20 /* of a child whose case has failed */

static struct process_found parent;
static struct program_mark mark;

/* A process with children of its own, as what is looked at is never this process. */
static void begin(void)
{
	CHECK_EQ(process_found_read(getppid(), &parent), 0);
	parent.pid = getpid();
	program_mark_read(getpid(), &mark);
	CHECK(mark.size > 0);
}

static pid_t start(const char *program)
{
	const pid_t pid = fork();

	if (!pid) {
		alarm(LIFETIME_SECONDS);
		if (program)
			execl(program, program, "100", (char *)NULL);
		pause();
		_exit(0);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, __WALL), pid);
}

static void look(struct children *children, bool are_known)
{
	children_begin(children);
	CHECK_EQ(children_look(children, &parent, &mark, are_known), 0);
	children_settle(children);
}

static bool is_executed(pid_t pid)
{
	struct program_mark now;

	program_mark_read(pid, &now);
	return now.size && (now.size != mark.size || memcmp(now.auxv, mark.auxv, now.size) != 0);
}

UNIT_TEST(a_child_is_taken_at_its_second_look)
{
	struct children children = {0};
	struct child child;
	begin();
	const pid_t before = start(NULL);

	look(&children, true);
	const pid_t pid = start(NULL);
	look(&children, false);
	CHECK(!children_next(&children, &child));
	CHECK(children_are_awaited(&children));
	look(&children, false);
	CHECK(children_next(&children, &child));
	CHECK_EQ(child.process.pid, pid);
	CHECK_EQ(child.parent.pid, getpid());
	CHECK(!children_next(&children, &child) && !children_are_awaited(&children));
	look(&children, false);
	CHECK(!children_next(&children, &child));
	CHECK_EQ(children.ended + children.executed, 0);
	end(pid);
	end(before);
	children_close(&children);
}

UNIT_TEST(one_that_executes_a_program_is_not)
{
	struct children children = {0};
	struct child child;
	begin();
	const pid_t late = start(NULL), pid = start("/bin/sleep");

	while (!is_executed(pid))
		usleep(1000);
	look(&children, false);
	CHECK_EQ(children.executed, 1);
	end(late); /* and one that ends before its second look */
	look(&children, false);
	look(&children, false);
	CHECK(!children_next(&children, &child));
	CHECK_EQ(children.executed, 1);
	CHECK_EQ(children.ended, 1);
	end(pid);
	children_close(&children);
}

UNIT_TEST(one_that_runs_the_command_is_not)
{
	struct children children = {.own = program_file_of(getpid())};
	struct child child;
	begin();
	CHECK(children.own.inode > 0);
	const pid_t pid = start(NULL);

	look(&children, false);
	look(&children, false);
	CHECK(!children_are_awaited(&children) && !children_next(&children, &child));
	CHECK_EQ(children.ended + children.executed + children.closed, 0);
	end(pid);
	children_close(&children);
}

static int wait_in_shared_memory(void *unused)
{
	(void)unused;
	alarm(LIFETIME_SECONDS);
	pause();
	return 0;
}

UNIT_TEST(one_that_shares_the_memory_waits)
{
	struct children children = {0};
	struct child child;
	const size_t size = 64 << 10;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	begin();
	const pid_t pid = clone(wait_in_shared_memory, stack + size, CLONE_VM | SIGCHLD, NULL);

	CHECK(pid > 0);
	for (int i = 0; i < 4; i++) {
		look(&children, false);
		CHECK(!children_next(&children, &child));
	}
	CHECK(children_are_awaited(&children));
	end(pid);
	look(&children, false);
	CHECK_EQ(children.ended, 1);
	CHECK(!children_are_awaited(&children));
	children_close(&children);
}

UNIT_MAIN()
