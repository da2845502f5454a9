/* SPDX-License-Identifier: MIT */
/*
 * dlopen_storm LIBRARY FOLDER THREADS - loads and unloads eight copies of libplugin.c's LIBRARY, made in FOLDER, without a pause. They are the same size, so
 * that one comes to lie where another was: a slot that is written too late is written into a stranger. What one plugin allocates another one releases.
 */
#include "selfcheck.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/sendfile.h>

#define PLUGINS 8

static const char *folder;

static void plugin_path(unsigned number, char path[200])
{
	snprintf(path, 200, "%s/plugin%u.so", folder, number);
}

static void make_plugin(const char *library, unsigned number)
{
	char path[200];
	int from, to;

	plugin_path(number, path);
	from = open(library, O_RDONLY | O_CLOEXEC);
	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	if (from < 0 || to < 0 || sendfile(to, from, NULL, 1 << 20) <= 0)
		exit(2);
	close(from);
	close(to);
}

static void use_plugin(struct self_worker *worker, struct self_block *block)
{
	char path[200];
	void *(*allocate)(size_t), *plugin;
	void (*release)(void *);
	const size_t size = 1 + self_random(worker) % 500;

	plugin_path((unsigned)self_random(worker) % PLUGINS, path);
	plugin = dlopen(path, self_random(worker) % 2 ? RTLD_NOW : RTLD_LAZY);
	if (!plugin) {
		self_wrong("%s", dlerror());
		return;
	}
	*(void **)&allocate = dlsym(plugin, "plugin_allocate");
	*(void **)&release = dlsym(plugin, "plugin_release");
	if (block->at) {
		self_block_check(block);
		release(block->at);
	}
	self_block_take(worker, block, allocate(size), size);
	if (dlclose(plugin))
		self_wrong("%s", dlerror());
}

static void *storm(void *unused)
{
	struct self_worker *worker = self_worker_new();
	struct self_block block = {0};

	while (!self_is_stopping()) {
		use_plugin(worker, &block);
		self_step(worker);
	}
	self_block_free(&block);
	return unused;
}

int main(int argc, char **argv)
{
	const int threads = argc > 3 ? atoi(argv[3]) : 1;

	if (argc < 4)
		return 2;
	folder = argv[2];
	for (unsigned i = 0; i < PLUGINS; i++)
		make_plugin(argv[1], i);
	return self_run(threads, storm, NULL);
}
