/* SPDX-License-Identifier: MIT */
/* session_detached: where messages go until the process is attached to, and if it is not. */
#include "session_detached.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static char directory[] = "/tmp/detached_test.XXXXXX";

/* A session that says why it fails, or that it has begun. */
static void play_session(int stderr_fd, int tell, bool begins)
{
	char prefix[64];
	struct outputs outputs;
	struct session_detached detached = {
		.is_on = true, .tell = tell, .stderr_fd = -1, .directory = -1};

	snprintf(prefix, sizeof(prefix), "%s/out", directory);
	dup2(stderr_fd, STDERR_FILENO);
	if (outputs_create(&outputs, prefix, 42) || session_detached_log(&detached, &outputs))
		_exit(1);
	fprintf(stderr, "a word\n");
	if (begins && !session_detached_tell(&detached))
		_exit(1);
	if (begins)
		fprintf(stderr, "another\n");
	session_detached_close(&detached);
	_exit(0);
}

static bool exists(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return access(path, F_OK) == 0;
}

static void check_session(bool begins)
{
	int words[2], told[2], status;
	char text[256] = "", command[64];

	strcpy(directory, "/tmp/detached_test.XXXXXX");
	CHECK(mkdtemp(directory) && !pipe2(words, O_CLOEXEC) && !pipe2(told, O_CLOEXEC));
	const pid_t child = fork();
	if (child == 0)
		play_session(words[1], told[1], begins);
	close(words[1]);
	close(told[1]);
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
	CHECK(read(words[0], text, sizeof(text) - 1) > 0);
	CHECK_STR(text, "a word\n"); /* what comes later is in the log alone */
	memset(text, 0, sizeof(text));
	const ssize_t got = read(told[0], text, sizeof(text) - 1);
	CHECK_EQ(got > 0, begins);
	CHECK(!begins || strstr(text, "/out.42.0001.log"));
	CHECK_EQ(exists("out.42.0001.log"), begins);
	close(words[0]);
	close(told[0]);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	(void)!system(command);
}

UNIT_TEST(a_session_that_begins_has_a_log)
{
	check_session(true);
}

UNIT_TEST(one_that_does_not_leaves_none)
{
	check_session(false);
}

UNIT_MAIN()
