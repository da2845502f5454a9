/* SPDX-License-Identifier: MIT */
/*
 * sharers KIND - processes that share this one's memory without being threads of it, and allocate.
 * KIND lasting: eight that live as long as it does; half of them take the functions' addresses into
 * registers long before they call them. KIND passing: four that are followed by others all the
 * time.
 */
#include "selfcheck.h"

#include <sys/wait.h>

#include "../../sharer.h"
#include "kept_registers.h"

#define SHARERS 8
#define BLOCKS 16
#define LOOPS 2000
#define HOLD_TURNS 50000000

struct sharer {
	struct self_worker *worker;
	pid_t pid;
	bool is_holding;
	bool is_transient;
	struct sharer_place place;
	struct self_block blocks[BLOCKS];
};

static struct sharer sharers[SHARERS];

/* For tens of milliseconds the addresses stand in registers, and nowhere else. */
static void hold(struct self_worker *worker)
{
	void *(*take)(size_t);
	void (*give)(void *);
	struct self_block block;

	hold_functions(&take, &give, HOLD_TURNS);
	self_block_take(worker, &block, take(1000), 1000);
	self_block_check(&block);
	give(block.at);
}

static int allocate(void *data)
{
	struct sharer *sharer = data;

	do {
		if (sharer->is_holding)
			hold(sharer->worker);
		for (int i = 0; i < LOOPS; i++)
			self_block_renew(sharer->worker, &sharer->blocks[i % BLOCKS],
					 1 + self_random(sharer->worker) % 3000);
		self_step(sharer->worker);
	} while (!self_is_stopping() && !sharer->is_transient);
	return 0;
}

static void start(struct sharer *sharer)
{
	sharer->pid = sharer_start(&sharer->place, allocate, sharer);
	if (sharer->pid < 0)
		self_wrong("clone: errno %d", errno);
}

/*
 * Those that have ended, as they may only when they are passing, or when all is over: others take
 * their place.
 */
static void follow(const struct sharer *end)
{
	for (struct sharer *sharer = sharers; sharer < end; sharer++) {
		int status;

		if (waitpid(sharer->pid, &status, __WALL | WNOHANG) != sharer->pid)
			continue;
		if (status || !sharer->is_transient)
			self_wrong("a process that shares the memory ended with wait status %#x",
				   (unsigned)status);
		else
			start(sharer);
	}
}

int main(int argc, char **argv)
{
	const bool is_transient = argc == 2 && strcmp(argv[1], "passing") == 0;
	struct sharer *end = sharers + (is_transient ? SHARERS / 2 : SHARERS);

	if (!is_transient && (argc != 2 || strcmp(argv[1], "lasting") != 0))
		return 2;
	sharer_be_threaded();
	for (struct sharer *sharer = sharers; sharer < end; sharer++) {
		sharer->worker = self_worker_new();
		sharer->is_holding = !is_transient && (sharer - sharers) % 2;
		sharer->is_transient = is_transient;
		start(sharer);
	}
	self_ready();
	while (self_serve(1))
		follow(end);
	for (struct sharer *sharer = sharers; sharer < end; sharer++)
		if (waitpid(sharer->pid, NULL, __WALL) != sharer->pid)
			self_wrong("waitpid: errno %d", errno);
	return self_end();
}
