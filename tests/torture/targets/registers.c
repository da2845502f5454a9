/* SPDX-License-Identifier: MIT */
/*
 * registers - four threads that spin with every register they have full of values of their own, and
 * then look whether all are as they were. Which these are is the CPU's (arch/NAME/registers.h).
 */
#include "registers.h"

#define THREADS 4
#define SPINS 200000 /* some 100 us */

static const char *vectors;

static void *hold(void *unused)
{
	struct self_worker *worker = self_worker_new();
	struct registers in, out;
	struct self_block block = {0};

	while (!self_is_stopping()) {
		choose(worker, &in);
		spin(&in, &out, SPINS);
		compare(&in, &out);
		self_block_renew(worker, &block, 100);
		self_step(worker);
	}
	self_block_free(&block);
	return unused;
}

static int figures(char *into, size_t room)
{
	return snprintf(into, room, " vectors=%s", vectors);
}

int main(void)
{
	vectors = find_vectors();
	if (!vectors) {
		fprintf(stderr, "this CPU has no vector registers that are known here\n");
		return 2;
	}
	self.figures = figures;
	return self_run(THREADS, hold, NULL);
}
