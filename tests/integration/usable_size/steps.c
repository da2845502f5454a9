/* SPDX-License-Identifier: MIT */
/*
 * steps.c - what an allocator does when it is asked for the usable size of a block, seen
 * instruction by instruction: the thread steps, and a handler looks.
 *
 * WATCH: the answer itself is stepped through. No system call, nothing that locks, no way into the
 * allocator's functions, no more than ANSWER_STEPS_MAX instructions (a lazy binding has thousands).
 * INTERRUPT: malloc, realloc and free are stepped through, and at each instruction another block of
 * the same thread is asked for, as a hook would that runs in a signal handler: a lock that is held,
 * or a heap that is half changed, must not matter. Other threads allocate all the while.
 *
 * steps: exit 0 and a line of figures, or 1 and what was wrong. steps emergency: asks for a block
 * of tcmalloc's emergency allocator.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define ANSWER_STEPS_MAX 400
#define LIVE 64
#define ROUNDS 60
#define HUGE_BLOCKS 20

static size_t (*const volatile ask)(void *) = malloc_usable_size;
static enum { OFF, WATCH, INTERRUPT } mode;
static struct block {
	uint8_t *address;
	size_t usable;
} live[LIVE];
static int busy; /* the block at hand */
static uint64_t steps, steps_max, asked;
static const char *wrong;
static atomic_bool is_over;

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || byte == 0x64 || byte == 0x65 ||
	       byte >> 4 == 4;
}

static void watch(const uint8_t *code)
{
	static void *const entries[] = {(void *)malloc, (void *)calloc, (void *)realloc,
					(void *)free};

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (code == entries[i])
			wrong = "it calls the allocator";
	while (is_prefix(*code))
		code++;
	if (code[0] == 0x0f && code[1] == 0x05)
		wrong = "it makes a system call";
	if (code[0] == 0xf0 || ((code[0] == 0x86 || code[0] == 0x87) && code[1] >> 6 != 3))
		wrong = "it locks";
	if (++steps > ANSWER_STEPS_MAX)
		wrong = "it does not come to an end";
}

static void on_step(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *interrupted = context;
	const struct block *block = &live[asked % LIVE];

	(void)signal, (void)info;
	if (mode == WATCH)
		watch((const uint8_t *)interrupted->uc_mcontext.gregs[REG_RIP]);
	if (mode == INTERRUPT && block->address && block != &live[busy] &&
	    ask(block->address) != block->usable)
		wrong = "a block has another size while the allocator is at work";
	asked += mode == INTERRUPT;
	if (wrong) {
		dprintf(STDOUT_FILENO, "%s\n", wrong);
		_exit(1);
	}
}

__attribute__((noinline)) static void step(bool on)
{
	if (on)
		__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; lea "
				 "128(%%rsp), %%rsp"
				 :
				 :
				 : "memory", "cc");
	else
		__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; "
				 "lea 128(%%rsp), %%rsp"
				 :
				 :
				 : "memory", "cc");
}

static void begin(int what)
{
	mode = what;
	steps = 0;
	step(true);
}

static void end(void)
{
	step(false);
	mode = OFF;
}

/* The size that was asked for while every instruction was watched. */
static size_t ask_watched(uint8_t *block, size_t requested)
{
	size_t usable;

	errno = 77;
	begin(WATCH);
	usable = ask(block);
	end();
	steps_max = steps > steps_max ? steps : steps_max;
	if (errno != 77)
		wrong = "errno is another";
	if (usable < requested)
		wrong = "less than what was requested";
	if (wrong) {
		printf("%s: block of %zu, usable %zu\n", wrong, requested, usable);
		exit(1);
	}
	return usable;
}

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static size_t draw_size(uint64_t *state)
{
	static const size_t most[] = {64, 64, 64, 512, 512, 512, 4096, 400000};
	const uint64_t drawn = random_next(state);

	return 1 + (drawn >> 8) % most[drawn % 8];
}

static uint8_t *allocate(uint64_t drawn, size_t size, uint8_t *old)
{
	void *block = NULL;

	/* To copy or to clear much takes many steps, and shows nothing. */
	switch (size > 512 ? 4 : drawn % 5) {
	case 0:
		block = realloc(old, size);
		break;
	case 1:
		free(old);
		block = calloc(1, size);
		break;
	case 2:
		free(old);
		block = posix_memalign(&block, 64 << drawn / 5 % 8, size) ? NULL : block;
		break;
	default:
		free(old);
		block = malloc(size);
	}
	return block;
}

static void interrupt_often(void)
{
	uint64_t state = 0x9e3779b97f4a7c15ull;

	for (int round = 0; round < ROUNDS; round++) {
		const uint64_t drawn = random_next(&state);
		const size_t size = draw_size(&state);
		struct block *block = &live[drawn % LIVE];
		uint8_t *old = block->address;

		busy = (int)(drawn % LIVE);
		begin(INTERRUPT);
		old = allocate(drawn >> 16, size, old);
		end();
		if (!old)
			exit(2);
		*block = (struct block){old, ask_watched(old, size)};
		memset(old, (int)size, size < 4096 ? size : 4096);
	}
}

/*
 * More regions than jemalloc remembers the tables of: so the long way to a block is watched, too.
 */
static void ask_far_apart(void)
{
	uint8_t *huge[HUGE_BLOCKS];

	for (int i = 0; i < HUGE_BLOCKS; i++)
		huge[i] = malloc(1u << 30);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < HUGE_BLOCKS; i++)
			if (huge[i])
				ask_watched(huge[i], 1u << 30);
	for (int i = 0; i < HUGE_BLOCKS; i++)
		free(huge[i]);
}

static void *first_block(void *argument)
{
	uint8_t *block = malloc(100);

	ask_watched(block, 100);
	free(block);
	return argument;
}

static void *disturb(void *argument)
{
	uint64_t state = (uintptr_t)argument;
	void *block[16] = {NULL};

	while (!is_over) {
		for (int i = 0; i < 64; i++) {
			void **at = &block[random_next(&state) % 16];

			free(*at);
			*at = malloc(draw_size(&state));
		}
		usleep(100);
	}
	for (int i = 0; i < 16; i++)
		free(block[i]);
	return NULL;
}

static int ask_in_emergency(void)
{
	void *(*allocate_so)(size_t) =
		(void *(*)(size_t))dlsym(RTLD_DEFAULT, "_ZN8tcmalloc15EmergencyMallocEm");

	if (!allocate_so)
		return 77;
	return ask(allocate_so(64)) < 64;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
	pthread_t thread[3];

	if (argc > 1 && strcmp(argv[1], "emergency") == 0)
		return ask_in_emergency();
	sigaction(SIGTRAP, &action, NULL);
	alarm(200);
	first_block(NULL);
	for (uintptr_t i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, disturb, (void *)(i + 1)))
			return 2;
	interrupt_often();
	if (pthread_create(&thread[2], NULL, first_block, NULL))
		return 2;
	pthread_join(thread[2], NULL);
	is_over = true;
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	ask_far_apart();
	printf("asked at %llu instructions of the allocator; an answer takes at most %llu\n",
	       (unsigned long long)asked, (unsigned long long)steps_max);
	return asked < 10000;
}
