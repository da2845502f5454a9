/* SPDX-License-Identifier: MIT */
/*
 * Its memory is constant, but it loads and unloads a library all the time, so that the stacks of
 * all allocations are learned again and again: "ready", and then it does so for as long as it is
 * let.
 */
#include "../target.h"

#include <dlfcn.h>

int main(void)
{
	target_say("ready\n");
	for (;;) {
		void *library = dlopen("libm.so.6", RTLD_NOW);

		for (int i = 0; i < 5; i++)
			free(malloc(100));
		if (!library || dlclose(library))
			return 1;
		usleep(200);
	}
}
