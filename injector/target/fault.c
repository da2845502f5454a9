/* SPDX-License-Identifier: MIT */
/*
 * fault.c - counts the operations on the target and makes one of them fail, or kills or stops the
 * injector there. Empty in ordinary builds.
 *
 * The environment is read at every call: the calls are rare compared with the system calls that
 * follow them, and a test may change the environment between two sessions.
 */
#include "fault.h"

#ifdef HI_FAULTS

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_ulong asks;

static unsigned long setting(const char *name)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 10) : 0;
}

/* The only output of a module at this level: tests use it to enumerate the operations. */
__attribute__((destructor)) static void print_count(void)
{
	if (setting("HEAPINJECT_FAULT_COUNT"))
		fprintf(stderr, "heapinject: %lu remote operations\n", atomic_load(&asks));
}

bool fault_is_set(const char *variable)
{
	return setting(variable) != 0;
}

void fault_reset(void)
{
	atomic_store(&asks, 0);
}

unsigned long fault_count(void)
{
	return atomic_load(&asks);
}

static unsigned long count(const char *step)
{
	const unsigned long ask = atomic_fetch_add(&asks, 1) + 1;

	if (setting("HEAPINJECT_FAULT_LIST"))
		fprintf(stderr, "heapinject: remote operation %lu: %s\n", ask, step);
	if (ask == setting("HEAPINJECT_KILL"))
		kill(getpid(), SIGKILL);
	if (ask == setting("HEAPINJECT_STOP"))
		kill(getpid(), SIGSTOP);
	return ask;
}

int fault_next(const char *operation)
{
	const unsigned long ask = count(operation);

	if (ask != setting("HEAPINJECT_FAULT"))
		return 0;
	fprintf(stderr, "heapinject: remote operation %lu (%s) fails by request\n", ask, operation);
	return -EIO;
}

void fault_pass(const char *step)
{
	(void)count(step);
}

#endif
