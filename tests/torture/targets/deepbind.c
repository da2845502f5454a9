/* SPDX-License-Identifier: MIT */
/*
 * deepbind LIBRARY DIRECTORY - eight copies of librelease.c's LIBRARY, made in DIRECTORY, are
 * loaded with RTLD_LAZY and RTLD_DEEPBIND, and with them libown.c: what is allocated there comes
 * from an allocator of its own, and free is bound when it is first called, just before the copy is
 * unloaded. A library that had bound it to the allocator of all others would have that one free a
 * stranger's block.
 */
#include "selfcheck.h"

#include "plugins.h"

#define REST_US 100000 /* slots of what comes and goes faster are not hooked */

struct group {
	void *plugin;
	struct self_block block;
};

static void open_group(struct self_worker *worker, struct group *group, unsigned number)
{
	const size_t size = 1 + self_random(worker) % 500;
	void *(*allocate)(size_t);

	group->plugin = plugin_open(number, RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
	if (!group->plugin)
		return;
	*(void **)&allocate = dlsym(group->plugin, "plugin_allocate");
	self_block_take(worker, &group->block, allocate(size), size);
}

static void close_group(struct group *group)
{
	void (*release)(void *);

	if (!group->plugin)
		return;
	*(void **)&release = dlsym(group->plugin, "plugin_release");
	self_block_check(&group->block);
	release(group->block.at);
	if (dlclose(group->plugin))
		self_wrong("%s", dlerror());
}

static void *work(void *unused)
{
	struct self_worker *worker = self_worker_new();
	struct group groups[PLUGINS] = {0};

	while (!self_is_stopping()) {
		for (unsigned i = 0; i < PLUGINS; i++) {
			close_group(&groups[i]);
			open_group(worker, &groups[i], i);
		}
		usleep(REST_US);
		self_step(worker);
	}
	for (unsigned i = 0; i < PLUGINS; i++)
		close_group(&groups[i]);
	return unused;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	plugins_make(argv[1], argv[2]);
	/* a library that two threads have open would not be unloaded */
	return self_run(1, work, NULL);
}
