/* SPDX-License-Identifier: MIT */
/*
 * demangle_cxx.c - C++ names, by the demangler of libstdc++.
 *
 * That demangler bounds its recursion but not its output, and a mangled name may refer back to its
 * own parts: 30 references that each repeat twice what came before make gigabytes of text out of
 * 200 bytes. So a name with more references than are harmless is demangled in a child process with
 * little time to live. Real names of that kind are few (large template instances), and a fork costs
 * less than a millisecond.
 */
#include "demangle.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME_MAX_BYTES 4096
/*
 * n references grow a name at most 3^(n/3) times, three parts at each level being the worst: 6561
 * times here, some megabytes.
 */
#define REFERENCES_MAX 24
#define CHILD_OUTPUT_MAX (1u << 16)
#define CHILD_SECONDS 1
#define CHILD_FAILURES_MAX 2 /* a file with more such names is not worth the time */

/*
 * From libsupc++, of which one object, written in C, is linked in. Loading libstdc++ for it would
 * take a millisecond of every attach. Its header is for C++ only.
 */
char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status);

/*
 * Substitutions (S_, S0_, SZ_) and template parameters (T_, T0_). Counts what only looks like one
 * as well.
 */
static size_t count_references(const char *name)
{
	size_t count = 0;

	for (; *name; name++) {
		if (*name != 'S' && *name != 'T')
			continue;
		const char *end = name + 1;
		while (isdigit((unsigned char)*end) || isupper((unsigned char)*end))
			end++;
		count += *end == '_';
	}
	return count;
}

/* The child writes the readable name to the pipe, if it fits and is ready in time. */
static _Noreturn void demangle_and_exit(const char *name, int out)
{
	const struct rlimit limit = {.rlim_cur = CHILD_SECONDS, .rlim_max = CHILD_SECONDS},
			    no_core = {0};
	int status;

	setrlimit(RLIMIT_CORE, &no_core);
	if (setrlimit(RLIMIT_CPU, &limit))
		_exit(1);
	const char *readable = __cxa_demangle(name, NULL, NULL, &status);
	const size_t size = readable ? strlen(readable) : 0;
	_exit(size == 0 || size > CHILD_OUTPUT_MAX || write(out, readable, size) != (ssize_t)size);
}

/* Reads to the end; NULL if there is nothing. */
static char *read_name(int in)
{
	char *text = malloc(CHILD_OUTPUT_MAX + 1);
	size_t size = 0;
	ssize_t got = 1;

	while (text && size < CHILD_OUTPUT_MAX && got != 0) {
		got = read(in, text + size, CHILD_OUTPUT_MAX - size);
		if (got < 0 && errno != EINTR)
			break;
		size += got > 0 ? (size_t)got : 0;
	}
	if (text && size == 0) {
		free(text);
		return NULL;
	}
	if (text)
		text[size] = 0;
	return text;
}

static char *demangle_in_child(const char *name)
{
	static unsigned failures;
	int ends[2];

	if (failures >= CHILD_FAILURES_MAX || pipe(ends))
		return NULL;
	const pid_t child = fork();
	if (child == 0)
		demangle_and_exit(name, ends[1]);
	close(ends[1]);
	char *readable = child > 0 ? read_name(ends[0]) : NULL;
	close(ends[0]);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	failures += !readable;
	return readable;
}

char *demangle_cxx(const char *name, bool full)
{
	char *readable;
	int status;

	if (strncmp(name, "_Z", 2) != 0 || strlen(name) > NAME_MAX_BYTES)
		return NULL;
	readable = count_references(name) > REFERENCES_MAX
			   ? demangle_in_child(name)
			   : __cxa_demangle(name, NULL, NULL, &status);
	if (readable && !full)
		demangle_shorten(readable);
	if (readable && !*readable) {
		free(readable);
		return NULL;
	}
	return readable;
}
