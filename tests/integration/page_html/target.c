/* SPDX-License-Identifier: MIT */
/*
 * target.c - "early" and "late" keep blocks of different functions, so that time tells them apart;
 * "thread" keeps some by a thread of another name; "leak" keeps some more for a while.
 */
#define _GNU_SOURCE
#include "../target.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

static void *volatile kept;
static atomic_bool has_kept;

__attribute__((noinline)) static void *keep(size_t size)
{
	kept = malloc(size);
	return kept;
}

__attribute__((noinline)) static void keep_early(void)
{
	for (int i = 0; i < 300; i++)
		keep(20000);
}

__attribute__((noinline)) static void keep_late(void)
{
	for (int i = 0; i < 100; i++)
		keep(30000);
}

__attribute__((noinline)) static void leak(void)
{
	for (int i = 0; i < 200; i++) {
		kept = malloc(5000);
		usleep(1000);
	}
}

__attribute__((noinline)) static void *keep_by_thread(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "worker");
	for (int i = 0; i < 100; i++)
		keep(10000);
	atomic_store(&has_kept, true);
	pause(); /* so that its name can be read */
	return NULL;
}

static void run_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, keep_by_thread, NULL);
	while (!atomic_load(&has_kept))
		usleep(1000);
}

__attribute__((noinline)) static void serve(const char *command)
{
	if (strcmp(command, "early") == 0)
		keep_early();
	else if (strcmp(command, "late") == 0)
		keep_late();
	else if (strcmp(command, "thread") == 0)
		run_thread();
	else if (strcmp(command, "leak") == 0)
		leak();
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		serve(command);
		target_say("done\n");
	}
	return 0;
}
