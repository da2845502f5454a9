/* SPDX-License-Identifier: MIT */
/*
 * dlopen_storm LIBRARY DIRECTORY THREADS - loads and unloads eight copies of libplugin.c's LIBRARY,
 * made in DIRECTORY, without a pause: a slot that is written too late is written into a stranger.
 * What one plugin allocates another one releases.
 */
#include "selfcheck.h"

#include "plugins.h"

static void use_plugin(struct self_worker *worker, struct self_block *block)
{
	void *(*allocate)(size_t), *plugin;
	void (*release)(void *);
	const size_t size = 1 + self_random(worker) % 500;

	plugin = plugin_open((unsigned)self_random(worker) % PLUGINS,
			     self_random(worker) % 2 ? RTLD_NOW : RTLD_LAZY);
	if (!plugin)
		return;
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
	plugins_make(argv[1], argv[2]);
	return self_run(threads, storm, NULL);
}
