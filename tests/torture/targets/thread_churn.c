/* SPDX-License-Identifier: MIT */
/*
 * thread_churn - four threads that create others as fast as it goes, joined or detached; each of
 * those allocates, checks, frees, and hands one block to its creator. With most of them glibc
 * reuses the stack, and with it the thread pointer by which heapinject knows a thread.
 */
#include "selfcheck.h"

#define CREATORS 4
#define BLOCKS 8

struct errand {
	struct self_worker worker; /* for tags and sizes only */
	struct self_block left;    /* for the creator to check and free */
	bool is_done;
};

static void *run_errand(void *data)
{
	struct errand *errand = data;
	struct self_block blocks[BLOCKS] = {{0}};

	for (int i = 0; i < 3 * BLOCKS; i++)
		self_block_renew(&errand->worker, &blocks[i % BLOCKS],
				 1 + self_random(&errand->worker) % 5000);
	for (int i = 0; i < BLOCKS; i++)
		self_block_free(&blocks[i]);
	self_block_take(&errand->worker, &errand->left, malloc(300), 300);
	__atomic_store_n(&errand->is_done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void *create(void *unused)
{
	struct self_worker *worker = self_worker_new();
	struct errand errand = {.worker = *worker};
	pthread_attr_t detached;

	/*
	 * Born detached: glibc's pthread_detach looks at the thread once more after it may have
	 * ended, and its stack be another's (bug 19951).
	 */
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);

	while (!self_is_stopping()) {
		const bool is_detached = self_random(worker) % 2;
		pthread_t thread;
		int err;

		errand.is_done = false;
		err = pthread_create(&thread, is_detached ? &detached : NULL, run_errand, &errand);
		if (err) {
			self_wrong("pthread_create: %d", err);
			break;
		}
		if (!is_detached)
			pthread_join(thread, NULL);
		while (!__atomic_load_n(&errand.is_done, __ATOMIC_ACQUIRE))
			usleep(50);
		self_block_free(&errand.left);
		self_step(worker);
	}
	pthread_attr_destroy(&detached);
	return unused;
}

int main(void)
{
	return self_run(CREATORS, create, NULL);
}
