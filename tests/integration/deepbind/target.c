/* SPDX-License-Identifier: MIT */
/*
 * Loads two groups of libraries, argv[1] with an allocator of its own (RTLD_DEEPBIND), argv[2]
 * without, and takes a block from each, so that malloc is bound in both, and free in neither.
 * Commands: own, plain = give one block back, by the first call of free of that library. Each
 * answers "right".
 */
#include "../target.h"

#include <dlfcn.h>

typedef void *allocate_function(size_t size);
typedef void release_function(void *block);

static void *open_group(const char *path, int how)
{
	void *group = dlopen(path, RTLD_LAZY | RTLD_LOCAL | how);

	if (!group) {
		target_say("%s\n", dlerror());
		exit(1);
	}
	return group;
}

int main(int argc, char **argv)
{
	char command[TARGET_COMMAND_MAX];

	if (argc != 3)
		return 2;
	void *own = open_group(argv[1], RTLD_DEEPBIND), *plain = open_group(argv[2], 0);
	void *own_block = ((allocate_function *)dlsym(own, "own_allocate"))(100);
	void *plain_block = ((allocate_function *)dlsym(plain, "plain_allocate"))(100);

	target_say("ready\n");
	while (target_read(command)) {
		if (strcmp(command, "own") == 0)
			((release_function *)dlsym(own, "releases"))(own_block);
		else
			((release_function *)dlsym(plain, "plain_release"))(plain_block);
		target_say("right\n");
	}
	return 0;
}
