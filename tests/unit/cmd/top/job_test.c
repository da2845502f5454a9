/* SPDX-License-Identifier: MIT */
/* job: what a process of its own says, how it ends, and that it has nothing of the terminal. */
#include "job.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "processes.h"
#include "unit.h"

#define LARGE (3u << 20)

static void await(struct job *job)
{
	for (int i = 0; i < 3000 && !job_look(job); i++)
		(void)poll(&(struct pollfd){job->fd, POLLIN, 0}, 1, 10);
	CHECK_EQ(job->pid, 0);
}

static int speak(void *context)
{
	printf("%s", (const char *)context);
	fflush(stdout);
	fputs("and this\n", stderr);
	return 7;
}

static int speak_much(void *context)
{
	(void)context;
	for (unsigned i = 0; i < LARGE; i++)
		putchar('x');
	return 0;
}

static int count_descriptors(void *context)
{
	int count = 0;

	(void)context;
	for (int fd = 3; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return getsid(0) == getpid() ? count : 100;
}

static int fall(void *context)
{
	(void)context;
	abort();
}

UNIT_TEST(what_it_says_and_how_it_ends)
{
	struct job job = JOB_NONE;
	char text[] = "this\n";

	CHECK(!job_look(&job));
	CHECK_EQ(job_start(&job, speak, text), 0);
	await(&job);
	CHECK_STR(job.bytes, "this\nand this\n");
	CHECK_EQ(job.exit_code, 7);
	CHECK(!job_look(&job)); /* once */
	CHECK_EQ(job_start(&job, speak_much, NULL), 0);
	await(&job);
	CHECK_EQ(job.size, LARGE);
	CHECK_EQ(job.exit_code, 0);
	CHECK_EQ(job_start(&job, fall, NULL), 0);
	await(&job);
	CHECK(job.exit_code < 0);
	job_close(&job);
}

UNIT_TEST(it_has_a_session_of_its_own_and_no_other_descriptors)
{
	struct job job = JOB_NONE;
	const int fd = open("/dev/null", O_RDONLY);

	CHECK_EQ(job_start(&job, count_descriptors, NULL), 0);
	await(&job);
	CHECK_EQ(job.exit_code, 0);
	job_close(&job);
	close(fd);
}

UNIT_TEST(growth_is_that_of_the_last_looks)
{
	struct process process = {0};

	process_note(&process, 1000, 1000000000);
	CHECK(process.growth == 0);
	process_note(&process, 3000, 2000000000);
	CHECK(process.growth == 2000);
	for (uint64_t second = 3; second <= 40; second++)
		process_note(&process, 3000, second * 1000000000);
	CHECK(process.growth == 0);
	CHECK_EQ(process_resident(&process), 3000);
}

UNIT_TEST(processes_of_this_machine_are_found)
{
	struct processes processes = {0};
	bool is_found = false;

	CHECK_EQ(processes_look(&processes, 1000000000), 0);
	CHECK_EQ(processes_look(&processes, 2000000000), 0);
	for (size_t i = 0; i < processes.count; i++) {
		is_found |= processes.process[i].pid == getppid();
		CHECK(processes.process[i].pid != getpid());
		CHECK(!i || processes.process[i].growth <= processes.process[i - 1].growth);
	}
	CHECK(is_found);
	processes_close(&processes);
}

UNIT_MAIN()
