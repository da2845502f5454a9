/* SPDX-License-Identifier: MIT */
/* plugin.c - a plug-in that came by dlopen leaks its answers. */
#include <dlfcn.h>

#include "seeded.h"

static void (*handle)(long number, bool leaks);

static void step(int64_t ms, bool leaks)
{
	handle((long)ms, leaks);
}

int main(int argc, char **argv)
{
	void *library = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
	void *function = library ? dlsym(library, "seeded_handle") : NULL;

	if (!function)
		return 1;
	memcpy(&handle, &function, sizeof(handle));
	return seeded_run(argc, argv, step);
}
