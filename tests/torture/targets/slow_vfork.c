/* SPDX-License-Identifier: MIT */
/*
 * slow_vfork LIBRARY DIRECTORY - a thread stands in vfork nearly all the time, as its children,
 * which allocate in its memory, take up to half a second; it cannot be stopped meanwhile. Another
 * loads and unloads copies of libplugin.c's LIBRARY, made in DIRECTORY, and allocates through their
 * slots, two more allocate.
 */
#include "selfcheck.h"

#include <sys/wait.h>

#include "plugins.h"

#define CHILD_MS 500
#define BLOCKS 16
#define LOADED_US 60000

/* Of the child, whose memory this is. */
static void live(struct self_worker *worker)
{
	const uint64_t end_ns = self_now_ns() + self_random(worker) % CHILD_MS * 1000000u;
	struct self_block block = {0};

	while (self_now_ns() < end_ns) {
		self_block_renew(worker, &block, 1 + self_random(worker) % 3000);
		usleep(1000);
	}
	self_block_free(&block);
}

static void *launch(void *unused)
{
	struct self_worker *worker = self_worker_new();

	while (!self_is_stopping()) {
		const pid_t child = vfork();
		int status = 0;

		if (child == 0) {
			live(worker);
			_exit(7);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != 7)
			self_wrong("vfork: %d, wait status %#x, errno %d", (int)child,
				   (unsigned)status, errno);
		self_step(worker);
	}
	return unused;
}

static void *load(void *unused)
{
	struct self_worker *worker = self_worker_new();
	struct self_block block = {0};

	while (!self_is_stopping()) {
		void *plugin = plugin_open((unsigned)self_random(worker) % PLUGINS, RTLD_NOW);
		void *(*allocate)(size_t);
		void (*release)(void *);

		if (!plugin)
			break;
		*(void **)&allocate = dlsym(plugin, "plugin_allocate");
		*(void **)&release = dlsym(plugin, "plugin_release");
		for (int i = 0; i < BLOCKS; i++) {
			const size_t size = 1 + self_random(worker) % 500;

			self_block_take(worker, &block, allocate(size), size);
			usleep(LOADED_US / BLOCKS);
			self_block_check(&block);
			release(block.at);
		}
		if (dlclose(plugin))
			self_wrong("%s", dlerror());
		self_step(worker);
	}
	return unused;
}

static void *allocate(void *unused)
{
	struct self_worker *worker = self_worker_new();
	struct self_block blocks[BLOCKS] = {{0}};

	while (!self_is_stopping()) {
		self_block_renew(worker, &blocks[self_random(worker) % BLOCKS],
				 1 + self_random(worker) % 3000);
		self_step(worker);
	}
	for (int i = 0; i < BLOCKS; i++)
		self_block_free(&blocks[i]);
	return unused;
}

int main(int argc, char **argv)
{
	void *(*const work[])(void *) = {launch, load, allocate, allocate};
	pthread_t thread[sizeof(work) / sizeof(work[0])];

	if (argc != 3)
		return 2;
	plugins_make(argv[1], argv[2]);
	for (size_t i = 0; i < sizeof(work) / sizeof(work[0]); i++)
		if (pthread_create(&thread[i], NULL, work[i], NULL))
			return 2;
	self_ready();
	while (self_serve(-1))
		;
	for (size_t i = 0; i < sizeof(work) / sizeof(work[0]); i++)
		pthread_join(thread[i], NULL);
	return self_end();
}
