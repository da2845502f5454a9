/* SPDX-License-Identifier: MIT */
/* debuginfod.c - see debuginfod.h. Enter at debuginfod_open(). */
#include "debuginfod.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shared_library.h"

#define SECONDS_MAX 60u

struct debuginfod_client;

/* As libdebuginfod declares them. */
static struct {
	struct debuginfod_client *(*begin)(void);
	void (*set_progress)(struct debuginfod_client *client,
			     int (*progress)(struct debuginfod_client *client, long done,
					     long all));
	/* by enum debuginfod_kind */
	int (*find[2])(struct debuginfod_client *client, const unsigned char *build_id, int size,
		       char **path);
	int (*find_source)(struct debuginfod_client *client, const unsigned char *build_id,
			   int size, const char *file, char **path);
	void (*end)(struct debuginfod_client *client);
} library;

static bool is_looked_for, is_given_up = true;
static struct timespec deadline;

static bool is_late(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > deadline.tv_sec ||
	       (now.tv_sec == deadline.tv_sec && now.tv_nsec >= deadline.tv_nsec);
}

/* The library calls this while it waits; a result other than 0 ends the transfer. */
static int go_on(struct debuginfod_client *client, long done, long all)
{
	(void)client;
	(void)done;
	(void)all;
	return is_late();
}

static void look_for_library(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS"), *seconds = getenv("DEBUGINFOD_MAXTIME");

	is_looked_for = true;
	void *from = urls && *urls ? shared_library_open("libdebuginfod.so.1") : NULL;
	if (!from)
		return;
	is_given_up =
		!shared_library_find(from, "debuginfod_begin", &library.begin) ||
		!shared_library_find(from, "debuginfod_set_progressfn", &library.set_progress) ||
		!shared_library_find(from, "debuginfod_find_debuginfo",
				     &library.find[DEBUGINFOD_DEBUG]) ||
		!shared_library_find(from, "debuginfod_find_executable",
				     &library.find[DEBUGINFOD_PROGRAM]) ||
		!shared_library_find(from, "debuginfod_find_source", &library.find_source) ||
		!shared_library_find(from, "debuginfod_end", &library.end);
	const unsigned long limit = seconds ? strtoul(seconds, NULL, 10) : 0;
	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += limit && limit < 86400 ? (time_t)limit : (time_t)SECONDS_MAX;
}

/* NULL = no server is asked, or none any more. */
static struct debuginfod_client *ask_begin(size_t build_id_size)
{
	if (!is_looked_for)
		look_for_library();
	struct debuginfod_client *client =
		is_given_up || is_late() || !build_id_size ? NULL : library.begin();
	if (client)
		library.set_progress(client, go_on);
	return client;
}

/* fd: what the library has answered. */
static int ask_end(struct debuginfod_client *client, int fd)
{
	library.end(client);
	/*
	 * -ENOENT is the answer of a server that knows no such file. Any other error will be the
	 * same the next time.
	 */
	is_given_up = fd < 0 && fd != -ENOENT;
	return fd < 0 ? -ENOENT : fd;
}

int debuginfod_open(enum debuginfod_kind kind, const uint8_t *build_id, size_t size)
{
	struct debuginfod_client *client = ask_begin(size);

	return client ? ask_end(client, library.find[kind](client, build_id, (int)size, NULL))
		      : -ENOENT;
}

int debuginfod_open_source(const uint8_t *build_id, size_t size, const char *file)
{
	struct debuginfod_client *client = file[0] == '/' ? ask_begin(size) : NULL;

	return client ? ask_end(client,
				library.find_source(client, build_id, (int)size, file, NULL))
		      : -ENOENT;
}
