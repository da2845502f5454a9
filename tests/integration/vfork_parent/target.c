/* SPDX-License-Identifier: MIT */
/*
 * Commands: open, use = the plug-in argv[1] is loaded, and allocates; vfork, traced = a thread
 * stands in vfork until `release`, and the child's pid is the answer; one child allocates all the
 * while, in its parent's memory, and the other is traced already, so that it cannot be stopped; gap
 * = the longest time, in ms, for which one of two threads that wake every millisecond did not,
 * since the last time. Others answer "right" or what failed.
 */
#include "../target.h"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

static const char *path;
static void *plugin;
static int way[2];
static volatile pid_t child;
static volatile int is_traced;

static void *stand_in_vfork(void *unused)
{
	char byte;

	prctl(PR_SET_NAME, "launcher");
	child = 0;
	const pid_t born = vfork();
	if (born == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (is_traced)
			ptrace(PTRACE_TRACEME, 0, 0, 0);
		child = getpid();
		while (!is_traced && !poll(&(struct pollfd){.fd = way[0], .events = POLLIN}, 1, 0))
			for (int i = 0; i < 1000; i++)
				free(malloc(4000));
		(void)!read(way[0], &byte, 1);
		_exit(0);
	}
	waitpid(born, NULL, 0);
	child = -1;
	return unused;
}

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000ll + now.tv_nsec / 1000;
}

static volatile long long longest_us[2];

static void *tick(void *which)
{
	for (long long last = now_us(), now;; last = now) {
		usleep(1000);
		now = now_us();
		if (now - last > longest_us[(long)which])
			longest_us[(long)which] = now - last;
	}
	return NULL;
}

static long long take_gap_us(void)
{
	const long long longest = longest_us[0] > longest_us[1] ? longest_us[0] : longest_us[1];

	longest_us[0] = longest_us[1] = 0;
	return longest;
}

static const char *use(void)
{
	void *(*allocate)(size_t size) = (void *(*)(size_t))dlsym(plugin, "plugin_allocate");

	for (int i = 0; i < 1000; i++)
		if (!allocate || !allocate(4000))
			return "it does not allocate";
	return "right";
}

static void begin_vfork(int traced)
{
	pthread_t thread;

	is_traced = traced;
	child = 0;
	pthread_create(&thread, NULL, stand_in_vfork, NULL);
	pthread_detach(thread);
	while (!child)
		usleep(1000);
}

static const char *end_vfork(void)
{
	if (write(way[1], "", 1) != 1)
		return "the child cannot be told";
	while (child > 0)
		usleep(1000);
	return "right";
}

static void obey(const char *command)
{
	if (strcmp(command, "vfork") == 0 || strcmp(command, "traced") == 0) {
		begin_vfork(command[0] == 't');
		target_say("%d\n", (int)child);
	} else if (strcmp(command, "gap") == 0) {
		target_say("%lld\n", take_gap_us() / 1000);
	} else if (strcmp(command, "open") == 0) {
		plugin = dlopen(path, RTLD_NOW);
		target_say("%s\n", plugin ? "right" : dlerror());
	} else {
		target_say("%s\n", strcmp(command, "use") == 0 ? use() : end_vfork());
	}
}

int main(int argc, char **argv)
{
	char command[TARGET_COMMAND_MAX];
	pthread_t thread;

	if (argc != 2 || pipe(way))
		return 2;
	path = argv[1];
	for (long i = 0; i < 2; i++)
		pthread_create(&thread, NULL, tick, (void *)i);
	target_say("ready\n");
	while (target_read(command))
		obey(command);
	return 0;
}
