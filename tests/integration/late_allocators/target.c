/* SPDX-License-Identifier: MIT */
/*
 * Commands: "load HOW PATH" loads a library by dlmopen into a namespace of its own (new), with
 * RTLD_DEEPBIND (deep), or as usual (plain); "use" has it allocate 2,000 blocks of 1,000 bytes;
 * "close".
 */
#include <dlfcn.h>

#include "../target.h"

#define BLOCKS 2000
#define BYTES 1000

typedef void *allocate_function(size_t size);

static void *library;

static const char *load(const char *how, const char *path)
{
	library = strcmp(how, "new") == 0
			  ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL)
			  : dlopen(path, RTLD_NOW | RTLD_LOCAL |
						 (strcmp(how, "deep") == 0 ? RTLD_DEEPBIND : 0));
	return library ? "done" : dlerror();
}

static const char *use(void)
{
	allocate_function *allocate = (allocate_function *)dlsym(library, "allocate");

	for (int i = 0; i < BLOCKS; i++)
		if (!allocate(BYTES))
			return "no memory";
	return "done";
}

int main(void)
{
	char command[TARGET_COMMAND_MAX], how[16], path[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "load %15s %255s", how, path) == 2)
			target_say("%s\n", load(how, path));
		else if (strcmp(command, "use") == 0)
			target_say("%s\n", use());
		else
			target_say("%s\n", dlclose(library) ? dlerror() : "done");
	}
	return 0;
}
