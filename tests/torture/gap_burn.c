/* SPDX-License-Identifier: MIT */
/*
 * gap_burn.c - a program that has nothing to do with the target and uses as much CPU time as
 * tests/torture/gap tells it to: `gap_burn MS...`, one process for each number, all at the same
 * time. What the target feels of it is competition for the CPUs and nothing else.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double used_ms(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6;
}

/* The start of the process counts, as it does for what is compared. */
static void burn(double ms)
{
	volatile unsigned turns = 0;

	while (used_ms() < ms)
		for (unsigned i = 0; i < 1000; i++)
			turns++;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	for (int i = 2; i < argc; i++) {
		const pid_t child = fork();

		if (child < 0)
			return 1;
		if (child == 0) {
			burn(atof(argv[i]));
			_exit(0);
		}
	}
	burn(atof(argv[1]));
	while (wait(NULL) > 0)
		;
	return 0;
}
