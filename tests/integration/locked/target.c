/* SPDX-License-Identifier: MIT */
/*
 * Allocates all the time, and never more than it did at first, so that whatever is locked on top is
 * not its own. `locked`: it locks what it has and all that it maps from now on. `limited`: so it
 * does, and may lock only a little more.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "../target.h"

#define BLOCKS 64
#define BLOCK_BYTES 10000
#define NOBODY 65534
#define ROOM (256ul << 10)

static volatile unsigned long rounds;

static void *work(void *unused)
{
	static void *volatile block[BLOCKS];

	for (;;) {
		for (int i = 0; i < BLOCKS; i++) {
			free(block[i]);
			block[i] = malloc(BLOCK_BYTES);
			*(volatile char *)block[i] = 1;
		}
		rounds++;
	}
	return unused;
}

static unsigned long locked_bytes(void)
{
	static char text[8192];
	FILE *file = fopen("/proc/self/status", "re");
	const size_t size = fread(text, 1, sizeof(text) - 1, file);
	const char *line = strstr(text, "VmLck:");

	fclose(file);
	return size && line ? strtoul(line + sizeof("VmLck:"), NULL, 10) << 10 : 0;
}

/* Root may lock as much as it likes. */
static void limit_what_may_be_locked(void)
{
	const unsigned long all = locked_bytes() + ROOM;

	if (setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){all, all}) ||
	    (geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY)) ||
	    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
		exit(3);
}

int main(int argc, char **argv)
{
	char command[TARGET_COMMAND_MAX];
	pthread_attr_t small;
	pthread_t thread;

	mallopt(M_ARENA_MAX, 1); /* another one reserves 64 MB, which would be locked, too */
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	pthread_create(&thread, &small, work, NULL);
	while (rounds < 10)
		usleep(1000);
	if (argc > 1 && mlockall(MCL_CURRENT | MCL_FUTURE)) {
		target_say("mlockall: %s\n", strerror(errno));
		return 77;
	}
	if (argc > 1 && !strcmp(argv[1], "limited"))
		limit_what_may_be_locked();
	target_say("ready\n");
	while (target_read(command)) {
		const unsigned long before = rounds;

		while (rounds < before + 2)
			usleep(1000);
		target_say("%s\n", locked_bytes() ? "locked" : "unlocked");
	}
	return 0;
}
