/* SPDX-License-Identifier: MIT */
/*
 * Commands: `ucontext N` and `switch N` make N coroutines, each with a stack that was mapped for it
 * and a page below that cannot be touched, and go round them for four seconds; `malloc N` the same
 * on stacks from malloc. All allocate, at depths from less than a page of stack to more than two.
 * The answer is the number of allocations.
 */
#include "swap_stacks.h"
#include "../target.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#define PAGE 4096ul
#define STACK_BYTES (5 * PAGE)

static struct coroutine {
	ucontext_t context;
	void *sp;
	char *stack;
	unsigned turn;
} * all, *current;
static ucontext_t home;
static void *home_sp;
static bool by_ucontext;
static unsigned long allocations;
static void *volatile kept; /* a pair of malloc and free is not optimised away */

__attribute__((noinline)) void allocate_in_coroutine(unsigned depth)
{
	volatile char room[1500];

	room[depth] = 1;
	if (depth)
		allocate_in_coroutine(depth - 1);
	else
		free(kept = malloc(100 + (allocations++ & 7)));
	room[depth] = 2; /* no tail call */
}

static void run(void)
{
	for (;;) {
		struct coroutine *self = current;

		allocate_in_coroutine(self->turn++ % 6);
		if (by_ucontext)
			swapcontext(&self->context, &home);
		else
			swap_stacks(&self->sp, home_sp);
	}
}

static void prepare(struct coroutine *coroutine, char *stack)
{
	coroutine->stack = stack;
	getcontext(&coroutine->context);
	coroutine->context.uc_stack.ss_sp = stack;
	coroutine->context.uc_stack.ss_size = STACK_BYTES;
	if (by_ucontext)
		makecontext(&coroutine->context, run, 0);
	else
		coroutine->sp =
			swap_stacks_prepare(stack + STACK_BYTES, run, (uint64_t)&coroutine->sp);
}

static char *new_stack(bool is_mapped)
{
	if (!is_mapped)
		return aligned_alloc(16, STACK_BYTES);
	char *memory = mmap(NULL, STACK_BYTES + PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(memory, PAGE, PROT_NONE);
	return memory + PAGE;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void work(const char *kind, unsigned count)
{
	all = calloc(count, sizeof(*all));
	by_ucontext = !strcmp(kind, "ucontext");
	for (unsigned i = 0; i < count; i++)
		prepare(&all[i], new_stack(strcmp(kind, "malloc")));
	for (const uint64_t end = now_ms() + 4000; now_ms() < end;) {
		for (unsigned i = 0; i < count; i++) {
			current = &all[i];
			if (by_ucontext)
				swapcontext(&home, &current->context);
			else
				swap_stacks(&home_sp, current->sp);
		}
	}
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(kind, "malloc"))
			free(all[i].stack);
		else
			munmap(all[i].stack - PAGE, STACK_BYTES + PAGE);
	free(all);
}

int main(void)
{
	char command[TARGET_COMMAND_MAX], kind[16];
	unsigned count;

	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "%15s %u", kind, &count) != 2)
			return 1;
		allocations = 0;
		work(kind, count);
		target_say("%lu\n", allocations);
	}
	return 0;
}
