/* SPDX-License-Identifier: MIT */
/* member: one that executes a program between the look at it and the attach. */
#include "member.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "hi_exit.h"
#include "unit.h"

#define LIFETIME_SECONDS 20 /* of a process whose case has failed */
#define REFUSED (HI_EXIT_REFUSED << 8)

static struct member member;
static int go[2]; /* to the process: execute the program */

/* A process that is about to execute, and looked at before that; its session has failed. */
static void begin(const char *name)
{
	struct process_found process;

	CHECK_EQ(pipe(go), 0);
	const pid_t pid = fork();
	if (!pid) {
		char byte;

		alarm(LIFETIME_SECONDS);
		prctl(PR_SET_NAME, name);
		if (read(go[0], &byte, 1) == 1)
			execl("/bin/sleep", "sleep", "100", (char *)NULL);
		_exit(1);
	}
	while (process_found_read(pid, &process) || strcmp(process.comm, name) != 0)
		usleep(1000);
	member_init(&member, &process);
	program_mark_read(pid, &member.mark);
	CHECK(member.mark.size > 0);
	member.state = MEMBER_RUNS;
	member.outcome = mmap(NULL, sizeof(*member.outcome), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(member.outcome != MAP_FAILED);
}

static void execute(void)
{
	struct program_mark now;

	CHECK_EQ(write(go[1], "x", 1), 1);
	do {
		usleep(1000);
		program_mark_read(member.process.pid, &now);
	} while (!now.size || program_mark_is_same(&now, &member.mark));
}

static void end(void)
{
	kill(member.process.pid, SIGKILL);
	CHECK_EQ(waitpid(member.process.pid, NULL, 0), member.process.pid);
}

UNIT_TEST(one_of_the_same_name_has_another_turn)
{
	begin("sleep");
	execute();
	member_end(&member, REFUSED);
	CHECK_EQ(member.state, MEMBER_WAITS);
	CHECK(member.outcome == NULL && member.is_again);
	end();
}

UNIT_TEST(one_of_another_name_is_named_and_no_failure)
{
	begin("other");
	execute();
	member_end(&member, REFUSED);
	CHECK_EQ(member.state, MEMBER_GONE);
	CHECK_STR(member.why, "executed another program before it was attached to");
	end();
}

UNIT_TEST(nor_is_a_child_that_executes)
{
	begin("sleep");
	member.parent = getpid();
	execute();
	member_end(&member, REFUSED);
	CHECK_EQ(member.state, MEMBER_GONE);
	end();
}

UNIT_TEST(what_cannot_be_attached_to_has_failed)
{
	begin("sleep");
	member_end(&member, REFUSED);
	CHECK_EQ(member.state, MEMBER_ENDED);
	CHECK_EQ(member.exit_code, HI_EXIT_REFUSED);
	end();
}

UNIT_MAIN()
