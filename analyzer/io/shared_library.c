/* SPDX-License-Identifier: MIT */
/* shared_library.c - see shared_library.h. */
#include "shared_library.h"

#include <dlfcn.h>
#include <string.h>

bool shared_library_is_loadable(void)
{
	return true;
}

void *shared_library_open(const char *file)
{
	return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

void shared_library_close(void *library)
{
	dlclose(library);
}

bool shared_library_find(void *library, const char *function, void *out_function)
{
	void *found = dlsym(library, function);

	memcpy(out_function, &found, sizeof(found));
	return found != NULL;
}
