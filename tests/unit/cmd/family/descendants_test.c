/* SPDX-License-Identifier: MIT */
/* descendants: a grandchild whose parent has ended, by the memory file that it has inherited. */
#include "descendants.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "hi_wire.h"
#include "unit.h"

#define LIFETIME_SECONDS 20 /* of a process whose case has failed */
#define FILE_BYTES 4096

static struct member member;
static struct members members = {.member = &member, .count = 1};
static struct session_outcome outcome;

/* flags: MAP_PRIVATE, as a target has its first pages, or MAP_SHARED, as its session has. */
static void *begin_as(int flags)
{
	const int fd = memfd_create(HI_MEMFD_NAME, MFD_CLOEXEC);
	struct process_found process;
	struct stat file;

	CHECK_EQ(process_found_read(getppid(), &process), 0);
	process.pid = getpid();
	member_init(&member, &process);
	member.outcome = &outcome;
	program_mark_read(getpid(), &member.mark);
	CHECK(fd >= 0 && !ftruncate(fd, FILE_BYTES) && !fstat(fd, &file));
	outcome.memory_file = file.st_ino;
	void *at = mmap(NULL, FILE_BYTES, PROT_READ, flags, fd, 0);
	CHECK(at != MAP_FAILED);
	CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* so that it can be waited for */
	return at;
}

/* A member with the number of this process; returns the mapping that its children inherit. */
static void *begin(void)
{
	return begin_as(MAP_PRIVATE);
}

/* A process whose parent has ended. */
static pid_t start_orphan(void)
{
	int ends[2];
	pid_t pid = 0;

	CHECK_EQ(pipe(ends), 0);
	const pid_t parent = fork();
	if (!parent) {
		pid = fork();
		if (pid)
			_exit(write(ends[1], &pid, sizeof(pid)) != sizeof(pid));
		alarm(LIFETIME_SECONDS);
		pause();
		_exit(0);
	}
	CHECK_EQ(waitpid(parent, NULL, 0), parent);
	CHECK_EQ(read(ends[0], &pid, sizeof(pid)), sizeof(pid));
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
}

static void look(struct descendants *descendants, struct children *children)
{
	children_begin(children);
	CHECK_EQ(descendants_look(descendants, &members, children), 0);
	children_settle(children);
}

UNIT_TEST(an_orphan_is_taken_once)
{
	struct descendants descendants = {0};
	struct children children = {0};
	struct child child;

	begin();
	const pid_t before = start_orphan();
	CHECK_EQ(descendants_begin(&descendants), 0);
	const pid_t pid = start_orphan();
	look(&descendants, &children);
	CHECK(children_are_awaited(&children));
	look(&descendants, &children);
	CHECK(children_next(&children, &child));
	CHECK_EQ(child.process.pid, pid);
	CHECK_EQ(child.parent.pid, getpid());
	look(&descendants, &children);
	CHECK(!children_next(&children, &child) && !children_are_awaited(&children));
	end(pid);
	end(before);
	children_close(&children);
	descendants_close(&descendants);
}

/* A program that is let go may become a daemon before its session says which file it has. */
UNIT_TEST(one_that_comes_before_the_file_is_known_is_taken)
{
	struct descendants descendants = {0};
	struct children children = {0};
	struct child child;

	begin();
	const uint64_t file = outcome.memory_file;
	outcome.memory_file = 0;
	member.state = MEMBER_RUNS;
	CHECK_EQ(descendants_begin(&descendants), 0);
	const pid_t pid = start_orphan();
	look(&descendants, &children);
	CHECK(!children_are_awaited(&children));
	outcome.memory_file = file;
	member.state = MEMBER_ENDED;
	look(&descendants, &children);
	look(&descendants, &children);
	CHECK(children_next(&children, &child));
	CHECK_EQ(child.process.pid, pid);
	end(pid);
	children_close(&children);
	descendants_close(&descendants);
}

/* As another process of the same program has the same addresses where none are random. */
UNIT_TEST(one_without_the_file_is_not)
{
	struct descendants descendants = {0};
	struct children children = {0};

	CHECK_EQ(munmap(begin(), FILE_BYTES), 0);
	CHECK_EQ(descendants_begin(&descendants), 0);
	const pid_t pid = start_orphan();
	look(&descendants, &children);
	CHECK(!children_are_awaited(&children));
	CHECK_EQ(children.ended + children.executed + children.closed, 0);
	end(pid);
	children_close(&children);
	descendants_close(&descendants);
}

UNIT_TEST(nor_one_with_the_file_of_another)
{
	struct descendants descendants = {0};
	struct children children = {0};

	begin();
	outcome.memory_file++;
	CHECK_EQ(descendants_begin(&descendants), 0);
	const pid_t pid = start_orphan();
	look(&descendants, &children);
	CHECK(!children_are_awaited(&children));
	end(pid);
	children_close(&children);
	descendants_close(&descendants);
}

/* Looks at an orphan, whose member has ended before it was seen what it runs. */
static bool is_found(void)
{
	struct descendants descendants = {0};
	struct children children = {0};

	member.mark.size = 0;
	CHECK_EQ(descendants_begin(&descendants), 0);
	const pid_t pid = start_orphan();
	look(&descendants, &children);
	const bool is_awaited = children_are_awaited(&children);
	end(pid);
	children_close(&children);
	descendants_close(&descendants);
	return is_awaited;
}

UNIT_TEST(that_of_a_member_that_ended_early_is)
{
	begin();
	CHECK(is_found());
}

/* It maps the file as well, and shares it with the target. */
UNIT_TEST(what_a_session_forks_is_not)
{
	begin_as(MAP_SHARED);
	CHECK(!is_found());
}

UNIT_TEST(nor_is_a_session)
{
	struct descendants descendants = {0};
	struct children children = {0};

	begin();
	CHECK_EQ(descendants_begin(&descendants), 0);
	member.session = start_orphan();
	look(&descendants, &children);
	CHECK(!children_are_awaited(&children));
	end(member.session);
	children_close(&children);
	descendants_close(&descendants);
}

UNIT_MAIN()
