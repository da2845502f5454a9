/* SPDX-License-Identifier: MIT */
/*
 * program_test.c - other programs as filters: what they say, and what becomes of those that do not
 * end.
 */
#include "program.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "unit.h"

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int filter(const char *script, unsigned int patience_ms, char **out_text,
		  char complaint[256])
{
	static char shell[] = "sh", option[] = "-c";
	const struct program_input input = {
		.bytes = "input\n", .size = 6, .patience_ms = patience_ms};
	char *copy = strdup(script);
	char *const argv[] = {shell, option, copy, NULL};
	size_t size;
	FILE *out = open_memstream(out_text, &size);

	CHECK(out && copy);
	const int err = program_filter(argv, &input, out, complaint);
	fclose(out);
	free(copy);
	return err;
}

UNIT_TEST(what_goes_in_comes_out)
{
	char complaint[256], *text;

	for (unsigned int patience_ms = 0; patience_ms <= 30000; patience_ms += 30000) {
		CHECK_EQ(filter("cat; echo end", patience_ms, &text, complaint), 0);
		CHECK_STR(text, "input\nend\n");
		free(text);
	}
}

UNIT_TEST(what_fails_says_why)
{
	char complaint[256], *text;

	CHECK_EQ(filter("echo half; echo 'no paper' >&2; exit 3", 30000, &text, complaint), -EIO);
	CHECK_STR(complaint, "no paper");
	CHECK_STR(text, "");
	free(text);
}

UNIT_TEST(what_does_not_end_is_ended)
{
	char complaint[256], *text;
	const double start = seconds();

	CHECK_EQ(filter("exec sleep 1000", 200, &text, complaint), -ETIMEDOUT);
	CHECK(seconds() - start >= 0.2);
	CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1); /* nothing is left of it */
	CHECK_EQ(errno, ECHILD);
	CHECK_STR(text, "");
	free(text);
}

UNIT_TEST(what_is_not_there)
{
	static char name[] = "no-such-program";
	char *const argv[] = {name, NULL};
	char complaint[256];

	CHECK_EQ(program_filter(argv, &(struct program_input){.bytes = ""}, stdout, complaint),
		 -ENOENT);
	CHECK_STR(complaint, "");
}

/* The program holds an end of a pipe, which closes when it is no more. */
UNIT_TEST(ends_with_who_has_started_it)
{
	char script[64], number[16] = "", complaint[256], *text;
	struct pollfd end = {.events = POLLIN};
	int ends[2], ready;

	CHECK_EQ(pipe(ends), 0);
	snprintf(script, sizeof(script), "echo $$ >&%d; exec sleep 1000", ends[1]);
	const pid_t starter = fork();
	if (starter == 0)
		_exit(filter(script, 0, &text, complaint) ? 1 : 0);
	close(ends[1]);
	CHECK(read(ends[0], number, sizeof(number) - 1) > 1);
	CHECK_EQ(kill(starter, SIGKILL), 0);
	CHECK_EQ(waitpid(starter, NULL, 0), starter);
	end.fd = ends[0];
	do
		ready = poll(&end, 1, 20000);
	while (ready < 0 && errno == EINTR);
	if (ready != 1)
		kill(atoi(number), SIGKILL);
	CHECK_EQ(ready, 1);
	CHECK_EQ(read(ends[0], number, sizeof(number)), 0);
}

UNIT_MAIN()
