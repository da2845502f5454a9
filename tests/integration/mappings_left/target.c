/* SPDX-License-Identifier: MIT */
/*
 * mappings_left/target.c - a timer interrupts mmap, or calloc while it clears a block and holds no
 * lock. The handler, on a stack of its own, jumps out of the call, or maps memory and returns.
 *
 * Commands: "mmap", "calloc" (jump out of it), "coroutine" (jump out of mmap on another stack),
 * "handler" (maps in mmap), "map N BYTES", "block BYTES" (of malloc, which is a mapping),
 * "elsewhere N BYTES" (on another stack jumps out of mmap, and has N mappings and N blocks there).
 */
#include <dlfcn.h>
#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#include "../target.h"

#define LARGE ((size_t)128 << 20)
#define CODE_BYTES 1024 /* of a function that is known by its address */
#define HANDLED 65536
#define TRIES 1000
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)
#define ACCESS (PROT_READ | PROT_WRITE)

static sigjmp_buf way_out;
static uintptr_t code;
static int jumps_out;
static volatile sig_atomic_t was_interrupted;

static void on_timer(int signal, siginfo_t *info, void *context)
{
	const uintptr_t pc = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)signal, (void)info;
	if (pc - code >= CODE_BYTES)
		return;
	code = 0;
	was_interrupted = 1;
	if (jumps_out)
		siglongjmp(way_out, 1);
	if (mmap(NULL, HANDLED, ACCESS, ANONYMOUS, -1, 0) == MAP_FAILED)
		abort();
}

static void map_much(void)
{
	void *at = mmap(NULL, LARGE, ACCESS, ANONYMOUS | MAP_POPULATE, -1, 0);

	munmap(at, LARGE);
}

/* What it frees it does not give back, and has to clear the next time. */
static void clear_much(void)
{
	void *volatile block;

	mallopt(M_MMAP_MAX, 0);
	block = calloc(1, LARGE);
	free(block);
}

static void on_another_stack(void (*function)(void))
{
	static char stack[65536];
	static ucontext_t here, there;

	if (getcontext(&there))
		abort();
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, function, 0);
	if (swapcontext(&here, &there))
		abort();
}

static void map_much_elsewhere(void)
{
	on_another_stack(map_much);
}

/* Until it was interrupted within that function. */
static void interrupt(void (*call)(void), const char *function, int jump)
{
	const struct itimerval soon = {.it_value.tv_usec = 2000}, never = {0};

	was_interrupted = 0;
	for (int i = 0; i < TRIES && !was_interrupted; i++) {
		jumps_out = jump;
		code = (uintptr_t)dlsym(RTLD_DEFAULT, function);
		setitimer(ITIMER_PROF, &soon, NULL);
		if (sigsetjmp(way_out, 1) == 0)
			call();
		setitimer(ITIMER_PROF, &never, NULL);
	}
	mallopt(M_MMAP_MAX, 65536);
}

__attribute__((noinline)) static void *map_after(size_t bytes)
{
	void *at = mmap(NULL, bytes, ACCESS, ANONYMOUS, -1, 0);

	__asm__ volatile("");
	return at;
}

/* What was there of earlier calls is gone. */
__attribute__((noinline)) static void *map_far_below(size_t bytes)
{
	volatile char room[65536];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 1;
	void *at = mmap(NULL, bytes, ACCESS, ANONYMOUS, -1, 0);
	__asm__ volatile("" : : "r"(room) : "memory");
	return at;
}

static size_t wanted_number, wanted_bytes;

static void take_elsewhere(void)
{
	interrupt(map_much, "mmap", 1);
	for (size_t i = 0; i < wanted_number; i++) {
		void *volatile block = malloc(wanted_bytes);

		if (!map_after(wanted_bytes) || !block)
			abort();
	}
}

int main(void)
{
	static char stack[65536];
	const stack_t on_stack = {.ss_sp = stack, .ss_size = sizeof(stack)};
	const struct sigaction action = {.sa_sigaction = on_timer,
					 .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	char command[TARGET_COMMAND_MAX];
	size_t number, bytes;

	mallopt(M_MMAP_THRESHOLD, 131072);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	clear_much(); /* the heap of brk is large enough from now on */
	mallopt(M_MMAP_MAX, 65536);
	sigaltstack(&on_stack, NULL);
	sigaction(SIGPROF, &action, NULL);
	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "map %zu %zu", &number, &bytes) == 2) {
			for (; number; number--) {
				map_far_below(bytes);
				map_after(bytes);
			}
			target_say("mapped\n");
		} else if (sscanf(command, "block %zu", &bytes) == 1) {
			void *volatile block = malloc(bytes);

			target_say("%s\n", block ? "allocated" : "failed");
		} else {
			if (sscanf(command, "elsewhere %zu %zu", &wanted_number, &wanted_bytes) ==
			    2)
				on_another_stack(take_elsewhere);
			else if (strcmp(command, "coroutine") == 0)
				interrupt(map_much_elsewhere, "mmap", 1);
			else if (strcmp(command, "calloc") == 0)
				interrupt(clear_much, "memset", 1);
			else
				interrupt(map_much, "mmap", strcmp(command, "mmap") == 0);
			target_say("%s interrupted\n", was_interrupted ? "was" : "was never");
		}
	}
	return 0;
}
