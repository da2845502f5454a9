/* SPDX-License-Identifier: MIT */
/*
 * loading.c - allocates below calls through libc, and loads a library when it is asked to. It has
 * no frame pointers, so that a frame of libc that is not left by its row costs the rest of the
 * stack.
 *
 * "load FILE" and "allocate" are answered by "loaded" and "allocated".
 */
#include <dlfcn.h>

#include "../integration/target.h"

#pragma GCC optimize("omit-frame-pointer")

#define ROUNDS 200
#define OWN_FRAME __attribute__((noinline, noclone))

static void *(*allocate)(size_t size) = malloc;
static void *volatile kept;

OWN_FRAME static int compare(const void *left, const void *right)
{
	free(kept);
	kept = allocate(1000);
	return *(const int *)left - *(const int *)right;
}

OWN_FRAME static void by_sorting(void)
{
	int number[] = {3, 1, 2, 5, 4, 9, 0, 7};

	qsort(number, 8, sizeof(number[0]), compare);
	__asm__ volatile("");
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		if (strncmp(command, "load ", 5) == 0) {
			void *library = dlopen(command + 5, RTLD_NOW);

			*(void **)&allocate = library ? dlsym(library, "loaded_allocate") : NULL;
			target_say("%s\n", allocate ? "loaded" : dlerror());
		} else {
			for (int i = 0; i < ROUNDS; i++)
				by_sorting();
			target_say("allocated\n");
		}
	}
	return 0;
}
