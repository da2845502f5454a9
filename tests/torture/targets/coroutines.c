/* SPDX-License-Identifier: MIT */
/*
 * coroutines - two threads that never run on their own stacks but on those of sixteen coroutines
 * each, side by side in one mapping, with nothing but canaries in between. What is put below such a
 * stack pointer, beyond the red zone, destroys a neighbour. All of them allocate.
 */
#include "selfcheck.h"

#include <sys/mman.h>
#include <ucontext.h>

#define THREADS 2
#define COROUTINES 16
#define STACK_SIZE 6144
#define CANARY_WORDS 16
#define CANARY 0x5aa55aa55aa55aa5u

struct stack {
	uint64_t canary[CANARY_WORDS];
	char room[STACK_SIZE];
};

struct coroutine {
	ucontext_t context;
	struct self_block block;
	struct stack *stack;
};

struct scheduler {
	struct self_worker *worker;
	struct coroutine coroutine[COROUTINES];
	unsigned current;
	ucontext_t home; /* of the thread, for its end */
};

static __thread struct scheduler *me;

static void check_canaries(const struct stack *stack)
{
	for (int i = 0; i < CANARY_WORDS; i++)
		if (stack->canary[i] != CANARY)
			self_wrong("what lies below a coroutine's stack was overwritten");
}

/* Each goes to the next one; the thread's own stack is used again at the end only. */
static void run(void)
{
	for (;;) {
		struct coroutine *self_coroutine = &me->coroutine[me->current];

		self_block_renew(me->worker, &self_coroutine->block,
				 1 + self_random(me->worker) % 1000);
		check_canaries(self_coroutine->stack);
		me->current = (me->current + 1) % COROUTINES;
		if (me->current == 0) {
			self_step(me->worker);
			if (self_is_stopping())
				swapcontext(&self_coroutine->context, &me->home);
		}
		swapcontext(&self_coroutine->context, &me->coroutine[me->current].context);
	}
}

static void prepare(struct coroutine *coroutine, struct stack *stack)
{
	for (int i = 0; i < CANARY_WORDS; i++)
		stack->canary[i] = CANARY;
	coroutine->stack = stack;
	getcontext(&coroutine->context);
	coroutine->context.uc_stack.ss_sp = stack->room;
	coroutine->context.uc_stack.ss_size = sizeof(stack->room);
	makecontext(&coroutine->context, run, 0);
}

static void *schedule(void *unused)
{
	struct scheduler scheduler = {0};
	struct stack *stacks = mmap(NULL, COROUTINES * sizeof(*stacks), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	me = &scheduler;
	me->worker = self_worker_new();
	for (int i = 0; i < COROUTINES; i++)
		prepare(&me->coroutine[i], &stacks[i]);
	swapcontext(&me->home, &me->coroutine[0].context);
	for (int i = 0; i < COROUTINES; i++) {
		check_canaries(&stacks[i]);
		self_block_free(&me->coroutine[i].block);
	}
	return unused;
}

int main(void)
{
	/* bound now: the linker's lazy binding wants more stack than the coroutines have */
	free(malloc(1));
	return self_run(THREADS, schedule, NULL);
}
