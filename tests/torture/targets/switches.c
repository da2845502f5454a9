/* SPDX-License-Identifier: MIT */
/*
 * switches MODE - coroutines with a context switch of our own, as bthread and Boost.Context have
 * it: a few registers on the stack, the stack pointer exchanged, a first return address that nobody
 * ever called from, and in the frame pointer whatever was there. All of them allocate, at several
 * depths.
 *
 *   kept    many stacks, mapped one by one and in one piece, from malloc too, that last
 *   reused  each stack is unmapped as soon as its coroutine has ended, and the next one, of another
 *           size, mapped nearby; often with a hole or an untouchable page right above it, at which
 *           the frame pointer of its first function points: code that follows it dies
 *   rushed  as reused, without a nap now and then
 */
#include "selfcheck.h"

#include <sys/mman.h>

#include "swap_stacks.h"

#define THREADS 2
#define KEPT 48
#define PAGE 4096ul
#define SLOTS 8
#define SLOT_PAGES 8

struct coroutine {
	void *sp; /* while it does not run */
	struct self_worker *worker;
	struct self_block block;
	char *stack;
	size_t size;
	bool is_done;
};

static __thread void *home; /* the thread's own stack pointer, while a coroutine runs */
static bool is_rushed;
static __thread struct coroutine *entering; /* for the first steps of a coroutine */

__attribute__((noinline)) static void work(struct coroutine *coroutine, unsigned depth)
{
	volatile char room[200];

	memset((char *)room, (int)depth, sizeof(room));
	if (depth) {
		work(coroutine, depth - 1);
		if (room[7] != (char)depth)
			self_wrong("a coroutine's stack was overwritten");
		return;
	}
	self_block_renew(coroutine->worker, &coroutine->block,
			 1 + self_random(coroutine->worker) % 1000);
}

static void leave(struct coroutine *coroutine)
{
	swap_stacks(&coroutine->sp, home);
}

static void run_for_ever(void)
{
	struct coroutine *coroutine = entering;

	for (;;) {
		work(coroutine, self_random(coroutine->worker) % 8);
		leave(coroutine);
	}
}

static void run_twice(void)
{
	struct coroutine *coroutine = entering;

	for (int i = 0; i < 2; i++) {
		work(coroutine, self_random(coroutine->worker) % 4);
		leave(coroutine);
	}
	coroutine->is_done = true;
	leave(coroutine);
}

/* What the frame pointer holds at first is bp. */
static void prepare(struct coroutine *coroutine, char *stack, size_t size, void (*function)(void),
		    uint64_t bp)
{
	coroutine->stack = stack;
	coroutine->size = size;
	coroutine->sp = swap_stacks_prepare(stack + size, function, bp);
}

static void resume(struct coroutine *coroutine)
{
	entering = coroutine;
	swap_stacks(&home, coroutine->sp);
}

static char *map(void *at, size_t size, int flags)
{
	char *memory =
		mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (memory == MAP_FAILED && at) /* somebody else has come to lie there */
		memory = map(NULL, size, 0);
	if (memory == MAP_FAILED)
		self_wrong("no memory for a stack");
	return memory;
}

static void *keep(void *unused)
{
	struct self_worker *worker = self_worker_new();
	struct coroutine coroutine[KEPT] = {{0}};
	char *piece = map(NULL, KEPT * SLOT_PAGES * PAGE, 0);

	for (int i = 0; i < KEPT; i++) {
		const size_t size = SLOT_PAGES * PAGE;
		char *stack = i % 3 == 0   ? piece + (size_t)i * size
			      : i % 3 == 1 ? map(NULL, size, 0)
					   : aligned_alloc(16, size);

		if (i % 3 == 1)
			mprotect(stack, PAGE, PROT_NONE);
		coroutine[i].worker = worker;
		prepare(&coroutine[i], stack, size, run_for_ever, self_random(worker));
	}
	while (!self_is_stopping()) {
		for (int i = 0; i < KEPT; i++)
			resume(&coroutine[i]);
		self_step(worker);
	}
	for (int i = 0; i < KEPT; i++)
		self_block_free(&coroutine[i].block);
	return unused;
}

/*
 * Where all was mapped a moment ago; above it now nothing, or what cannot be touched, and there the
 * first frame pointer points.
 */
static void renew(struct coroutine *coroutine)
{
	const size_t size = (3 + self_random(coroutine->worker) % (SLOT_PAGES - 4)) * PAGE;
	const bool is_hole = self_random(coroutine->worker) % 2;
	char *stack = map(coroutine->stack, SLOT_PAGES * PAGE,
			  coroutine->stack ? MAP_FIXED_NOREPLACE : 0);
	const uint64_t above =
		(uint64_t)(stack + size) + 64 + self_random(coroutine->worker) % 64 * 8;

	if (!is_rushed && self_random(coroutine->worker) % 2)
		usleep(self_random(coroutine->worker) % 200);
	if (is_hole)
		munmap(stack + size, SLOT_PAGES * PAGE - size);
	else
		mprotect(stack + size, SLOT_PAGES * PAGE - size, PROT_NONE);
	coroutine->is_done = false;
	prepare(coroutine, stack, size, run_twice, above);
	if (!is_hole)
		coroutine->size = SLOT_PAGES * PAGE; /* all of it goes */
}

static void *reuse(void *unused)
{
	struct self_worker *worker = self_worker_new();
	struct coroutine coroutine[SLOTS] = {{0}};

	for (unsigned i = 0; i < SLOTS; i++) {
		coroutine[i].worker = worker;
		renew(&coroutine[i]);
	}
	while (!self_is_stopping()) {
		struct coroutine *one = &coroutine[self_random(worker) % SLOTS];

		resume(one);
		if (one->is_done) {
			munmap(one->stack, one->size);
			renew(one);
		}
		self_step(worker);
	}
	for (unsigned i = 0; i < SLOTS; i++)
		self_block_free(&coroutine[i].block);
	return unused;
}

int main(int argc, char **argv)
{
	void *(*mode)(void *) = argc == 2 && !strcmp(argv[1], "kept") ? keep : reuse;

	is_rushed = argc == 2 && !strcmp(argv[1], "rushed");
	/* bound now: the linker's lazy binding wants more stack than the coroutines have */
	free(malloc(1));
	return self_run(THREADS, mode, NULL);
}
