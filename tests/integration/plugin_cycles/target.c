/* SPDX-License-Identifier: MIT */
/*
 * Loads and unloads the plug-ins argv[1] and argv[2] by turns, while three threads allocate.
 * Commands:
 *   cycle LOADS MS  loads a plug-in, has it allocate, and unloads it after MS ms, so many times
 *   await LOADS     the same, but waits, for two seconds at most, until the slot of the plug-in
 *                   has changed; answers how long that took
 *   lazy            from now on, functions are bound when they are called first
 * The answers say how many loads had the same address as the one before, too.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "../target.h"
#include "plugin/plugin.h"

#define THREADS 3
#define LOADS_MAX 1000
#define AWAIT_MS 2000.0

typedef void work_function(const struct plugin_sizes *sizes, void **out);
typedef uintptr_t slot_function(void);

static const struct plugin_sizes sizes[2] = {{1000, 501, 700, 2000, 300},
					     {1100, 601, 800, 2200, 400}};
static char **path;
static int how = RTLD_NOW;
static double waited_ms[LOADS_MAX];

static void fail(const char *what)
{
	target_say("wrong: %s\n", what);
	_exit(1);
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void *churn(void *unused)
{
	for (size_t size = 16;; size = size < 2000 ? size + 16 : 16) {
		unsigned char *volatile block = malloc(size);

		memset(block, 0x5a, size);
		if (block[size - 1] != 0x5a)
			fail("a block");
		free(block);
		usleep(200);
	}
	return unused;
}

static void check(void *block, size_t size)
{
	memset(block, 0x33, size);
}

/* Waits until the slot leads elsewhere. -1: it did not. */
static double wait_for_slot(slot_function *slot, uintptr_t before, double since_ms)
{
	while (slot() == before) {
		if (now_ms() - since_ms > AWAIT_MS)
			return -1;
		usleep(500);
	}
	return now_ms() - since_ms;
}

/* Returns the address at which the plug-in was. */
static uintptr_t load(int which, int dwell_ms, double *out_waited_ms)
{
	const struct plugin_sizes *its = &sizes[which];
	void *block[PLUGIN_BLOCKS], *handle = dlopen(path[1 + which], how);
	const double since_ms = now_ms();
	struct link_map *map;

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map))
		fail(dlerror());
	const uintptr_t at = map->l_addr;

	if (out_waited_ms) {
		slot_function *slot = (slot_function *)dlsym(handle, "plugin_slot");

		*out_waited_ms =
			wait_for_slot(slot, (uintptr_t)dlsym(RTLD_DEFAULT, "malloc"), since_ms);
	}
	((work_function *)dlsym(handle, "plugin_work"))(its, block);
	check(block[0], its->allocated);
	check(block[1], its->copied);
	check(block[2], its->created);
	check(block[3], its->moved);
	if (dwell_ms)
		usleep((unsigned)dwell_ms * 1000);
	if (dlclose(handle))
		fail("dlclose");
	free(block[3]);
	return at;
}

static int compare(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static void cycle(int loads, int dwell_ms, int is_awaited)
{
	uintptr_t last = 0;
	int same = 0, missed = 0;

	for (int i = 0; i < loads; i++) {
		const uintptr_t at = load(i % 2, dwell_ms, is_awaited ? &waited_ms[i] : NULL);

		same += at == last;
		last = at;
		missed += waited_ms[i] < 0;
	}
	if (is_awaited)
		qsort(waited_ms, (size_t)loads, sizeof(*waited_ms), compare);
	target_say("loads %d same %d missed %d median_ms %.1f most_ms %.1f\n", loads, same, missed,
		   waited_ms[loads / 2], waited_ms[loads - 1]);
}

int main(int argc, char **argv)
{
	char command[TARGET_COMMAND_MAX];
	int loads, dwell_ms;

	if (argc != 3)
		return 2;
	path = argv;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&(pthread_t){0}, NULL, churn, NULL);
	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "cycle %d %d", &loads, &dwell_ms) == 2 && loads <= LOADS_MAX)
			cycle(loads, dwell_ms, 0);
		else if (sscanf(command, "await %d", &loads) == 1 && loads <= LOADS_MAX)
			cycle(loads, 0, 1);
		else if (strcmp(command, "lazy") == 0)
			target_say("%d\n", how = RTLD_LAZY);
		else
			fail("a command");
	}
	return 0;
}
