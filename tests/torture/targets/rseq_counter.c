/* SPDX-License-Identifier: MIT */
/*
 * rseq_counter - counters, one for each CPU, that are incremented without atomic operations in
 * restartable sequences, as tcmalloc does: load, compute for a while, store. The kernel sends a
 * thread that was stopped in between to the abort address. If an attach hides the stop from it, the
 * store happens all the same, and counts of others are lost.
 */
#include "selfcheck.h"

#include "rseq_add.h"

#define THREADS 4
#define ROUND 2000 /* increments between two comparisons */
#define CPUS_MAX 1024

extern const ptrdiff_t __rseq_offset;
extern const unsigned int __rseq_size;

static struct {
	uint64_t count;
	char apart[56];
} counter[CPUS_MAX];
static uint64_t added, aborted;
static pthread_barrier_t barrier;
static bool is_over;

static struct rseq *own_rseq(void)
{
	return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

static void compare(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < CPUS_MAX; i++)
		sum += counter[i].count;
	if (sum != added)
		self_wrong("%lu increments, but the counters say %lu", (unsigned long)added,
			   (unsigned long)sum);
}

static void *count(void *unused)
{
	struct self_worker *worker = self_worker_new();
	struct rseq *rseq = own_rseq();
	struct self_block block = {0};

	do {
		for (int i = 0; i < ROUND;) {
			const uint32_t cpu = *(volatile uint32_t *)&rseq->cpu_id_start;

			if (add_one(rseq, cpu, &counter[cpu].count))
				i++;
			else
				__atomic_fetch_add(&aborted, 1, __ATOMIC_RELAXED);
		}
		__atomic_fetch_add(&added, ROUND, __ATOMIC_RELAXED);
		self_block_renew(worker, &block, 100);
		self_step(worker);
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
			compare();
			/* decided once for all: who left alone would be missed at the barrier */
			is_over = self_is_stopping();
		}
		pthread_barrier_wait(&barrier);
	} while (!is_over);
	self_block_free(&block);
	return unused;
}

static int figures(char *into, size_t room)
{
	return snprintf(into, room, " aborted=%lu", (unsigned long)aborted);
}

int main(void)
{
	if (__rseq_size == 0) {
		fprintf(stderr, "no restartable sequences here\n");
		return 2;
	}
	pthread_barrier_init(&barrier, NULL, THREADS);
	self.figures = figures;
	return self_run(THREADS, count, NULL);
}
