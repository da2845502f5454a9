/* SPDX-License-Identifier: MIT */
/*
 * pointers - programs keep addresses of malloc and free, and while heapinject is attached they are
 * given other ones. Two threads take them anew all the time, into structures on the heap, on the
 * stack and in static memory, and use those that were taken long ago; two more keep them in
 * registers for a whole loop (built with -fno-plt the compiler does that by itself, in `loop`; here
 * it is made sure of).
 */
#include "kept_registers.h"
#include "selfcheck.h"

#define TAKERS 2
#define LOOPERS 2
#define KEPT 64
#define LOOPS 3000

struct operations {
	void *(*malloc)(size_t);
	void (*free)(void *);
};

static struct operations shared; /* the last ones that anybody took */

/* The compiler must not know whose address it is, or it calls the function itself. */
static void take(struct operations *into)
{
	struct operations now = {malloc, free};

	__asm__ volatile("" : "+m"(now));
	*into = now;
}

static void use(struct self_worker *worker, const struct operations *allocate,
		const struct operations *release)
{
	const size_t size = 1 + self_random(worker) % 2000;
	struct self_block block;

	self_block_take(worker, &block, allocate->malloc(size), size);
	self_block_check(&block);
	release->free(block.at);
}

static void *take_and_use(void *unused)
{
	struct self_worker *worker = self_worker_new();
	struct operations *kept[KEPT], on_stack[4];

	for (int i = 0; i < KEPT; i++) {
		kept[i] = malloc(sizeof(*kept[i]));
		take(kept[i]);
	}
	for (int i = 0; i < 4; i++)
		take(&on_stack[i]);
	while (!self_is_stopping()) {
		if (self_random(worker) % 256 == 0) /* so that most of them are old */
			take(kept[self_random(worker) % KEPT]);
		if (self_random(worker) % 256 == 0)
			take(&on_stack[self_random(worker) % 4]);
		if (self_random(worker) % 256 == 0)
			take(&shared);
		use(worker, kept[self_random(worker) % KEPT], kept[self_random(worker) % KEPT]);
		use(worker, &on_stack[self_random(worker) % 4], &on_stack[self_random(worker) % 4]);
		use(worker, &shared, kept[self_random(worker) % KEPT]);
		self_step(worker);
	}
	for (int i = 0; i < KEPT; i++)
		free(kept[i]);
	return unused;
}

/*
 * Functions with much to remember spill what their caller had in registers; what lies there later
 * is something else.
 */
__attribute__((noinline)) static void spill(void)
{
	__asm__ volatile("" ::: KEPT_REGISTERS, "memory");
}

__attribute__((noinline)) static void loop(struct self_worker *worker)
{
	void *(*allocate)(size_t) = malloc;
	void (*release)(void *) = free;

	__asm__ volatile("" : "+r"(allocate), "+r"(release));
	for (int i = 0; i < LOOPS; i++) {
		const size_t size = 1 + (size_t)i;
		struct self_block block;

		self_block_take(worker, &block, allocate(size), size);
		spill();
		self_block_check(&block);
		release(block.at);
		free(malloc(size)); /* hoisted by clang -fno-plt */
	}
}

static void *loop_and_loop(void *unused)
{
	struct self_worker *worker = self_worker_new();

	while (!self_is_stopping()) {
		loop(worker);
		self_step(worker);
	}
	return unused;
}

int main(void)
{
	pthread_t thread[TAKERS + LOOPERS];

	take(&shared);
	for (int i = 0; i < TAKERS + LOOPERS; i++)
		pthread_create(&thread[i], NULL, i < TAKERS ? take_and_use : loop_and_loop, NULL);
	self_ready();
	while (self_serve(-1))
		;
	for (int i = 0; i < TAKERS + LOOPERS; i++)
		pthread_join(thread[i], NULL);
	return self_end();
}
