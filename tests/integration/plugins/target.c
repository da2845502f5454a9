/* SPDX-License-Identifier: MIT */
/*
 * Commands: open, close = load and unload the plug-in argv[1]; use = 4 MB from it that stay, and 4
 * MB that do not; churn = load, use, unload, 3000 times over, in two threads at once. Each answers
 * "right" or what failed.
 */
#include "../target.h"

#include <dlfcn.h>
#include <pthread.h>

typedef void *allocate_function(size_t size);
typedef void release_function(void *block);

static const char *path;
static void *plugin;

static const char *use(void *handle, int count, int stay)
{
	allocate_function *allocate = (allocate_function *)dlsym(handle, "plugin_allocate");
	release_function *release = (release_function *)dlsym(handle, "plugin_release");

	if (!allocate || !release)
		return "a symbol is missing";
	for (int i = 0; i < count; i++) {
		char *block = allocate(4000);
		if (block[0] != 'p')
			return "a block is wrong";
		if (!stay || i % 2)
			release(block);
	}
	return "right";
}

static void *churn(void *unused)
{
	(void)unused;
	for (int i = 0; i < 3000; i++) {
		void *handle = dlopen(path, RTLD_NOW);

		if (!handle || strcmp(use(handle, 10, 0), "right") != 0 || dlclose(handle))
			return "churning failed";
	}
	return "right";
}

static const char *churn_twice(void)
{
	pthread_t thread;
	void *other;
	const char *mine;

	pthread_create(&thread, NULL, churn, NULL);
	mine = churn(NULL);
	pthread_join(thread, &other);
	return strcmp(mine, "right") ? mine : other;
}

static const char *obey(const char *command)
{
	if (strcmp(command, "open") == 0)
		return (plugin = dlopen(path, RTLD_LAZY)) ? "right" : dlerror();
	if (strcmp(command, "close") == 0)
		return dlclose(plugin) ? dlerror() : "right";
	return strcmp(command, "use") == 0 ? use(plugin, 2000, 1) : churn_twice();
}

int main(int argc, char **argv)
{
	char command[TARGET_COMMAND_MAX];

	if (argc != 2)
		return 2;
	path = argv[1];
	target_say("ready\n");
	while (target_read(command))
		target_say("%s\n", obey(command));
	return 0;
}
