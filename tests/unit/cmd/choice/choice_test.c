/* SPDX-License-Identifier: MIT */
/* choice: processes by name, and what is said where there is none. */
#include "choice.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>

#include "unit.h"

static pid_t start(const char *name)
{
	int ends[2];
	char byte;

	CHECK_EQ(pipe(ends), 0);
	const pid_t pid = fork();
	if (!pid) {
		if (name)
			prctl(PR_SET_NAME, name);
		if (write(ends[1], "", 1) == 1)
			pause();
		_exit(0);
	}
	CHECK_EQ(read(ends[0], &byte, 1), 1);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
}

static bool has(const struct processes_found *found, pid_t pid)
{
	for (size_t i = 0; i < found->count; i++)
		if (found->process[i].pid == pid)
			return true;
	return false;
}

UNIT_TEST(the_name_is_that_of_the_process_or_of_its_executable)
{
	struct choice choice = {.name = "chosen (x) y"};
	struct processes_found found = {0};
	const pid_t named = start("chosen (x) y"), longer = start("chosen (x) yz"),
		    plain = start(NULL);

	CHECK_EQ(choice_find(&choice, &found), 0);
	CHECK_EQ(found.count, 1);
	CHECK_EQ(found.process[0].pid, named);
	CHECK(found.process[0].resident_bytes && found.process[0].start_ticks);
	processes_found_close(&found);
	choice.name = "choice_test"; /* the executable */
	CHECK_EQ(choice_find(&choice, &found), 0);
	CHECK(has(&found, named) && has(&found, longer) && has(&found, plain));
	CHECK(!has(&found, getpid()));
	for (size_t i = 1; i < found.count; i++)
		CHECK(found.process[i - 1].pid < found.process[i].pid);
	processes_found_close(&found);
	choice.name = "choice_tes";
	CHECK_EQ(choice_find(&choice, &found), 0);
	CHECK_EQ(found.count, 0);
	end(named);
	end(longer);
	end(plain);
}

UNIT_TEST(what_is_not_there_is_said)
{
	struct choice choice = {.cgroup = "no/such\033"};
	struct processes_found found = {0};
	char text[CHOICE_TEXT_MAX];

	CHECK(choice_is_given(&choice) && !choice_is_given(&(struct choice){0}));
	CHECK_EQ(choice_find(&choice, &found), -ENOENT);
	CHECK_STR(choice_explain(&choice, -ENOENT, text),
		  "there is no process of the cgroup no/such?: no such cgroup; /proc/PID/cgroup "
		  "has that of a process");
	choice = (struct choice){.port = 80};
	CHECK(strstr(choice_explain(&choice, 0, text), "there is no process on TCP port 80; "));
	CHECK(strstr(choice_explain(&choice, -EACCES, text), "cannot be seen from here"));
}

UNIT_MAIN()
