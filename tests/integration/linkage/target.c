/* SPDX-License-Identifier: MIT */
/*
 * A program that is linked in many ways. Threads take and give back blocks through all functions,
 * so that the hooked code is always under way. "keep N" keeps N blocks of libc's malloc, and N of
 * the second allocator if there is one (SECOND is its prefix). "code" answers with a checksum of
 * the program's own code, as the program sees it.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>

#include "../target.h"

#define THREADS 3
#define KEPT_BYTES 3000u
#define SECOND_BYTES 5000u

#ifdef SECOND
#define JOIN(a, b) a##b
#define NAME(prefix, function) JOIN(prefix, function)
void *NAME(SECOND, malloc)(size_t size);
void *NAME(SECOND, calloc)(size_t count, size_t size);
void *NAME(SECOND, realloc)(void *block, size_t size);
void NAME(SECOND, free)(void *block);
#endif

extern const char __executable_start[], etext[];

static void *volatile last;

static void fail(const char *what)
{
	target_say("wrong: %s\n", what);
	_exit(1);
}

/* A block that is what it was filled with. */
static void check(unsigned char *block, size_t size)
{
	memset(block, 0x5a, size);
	__asm__ volatile("" : : "r"(block) : "memory");
	for (size_t i = 0; i < size; i += 37)
		if (block[i] != 0x5a)
			fail("a block");
}

static void take_and_give_back(size_t size)
{
	void *aligned;
	unsigned char *block = malloc(size);

	check(block, size);
	check(block = realloc(block, 3 * size), 3 * size);
	free(block);
	check(block = calloc(3, size), 3 * size);
	free(block);
	if (posix_memalign(&aligned, 64, size) || (uintptr_t)aligned % 64)
		fail("an alignment");
	free(aligned);
	free(last = strdup("a block of libc's own"));
#ifdef SECOND
	check(block = NAME(SECOND, malloc)(size), size);
	check(block = NAME(SECOND, realloc)(block, 2 * size), 2 * size);
	NAME(SECOND, free)(block);
	NAME(SECOND, free)(last = NAME(SECOND, calloc)(2, size));
#endif
}

static void *work(void *nothing)
{
	for (size_t size = 16;; size = size < 2000 ? size + 16 : 16) {
		take_and_give_back(size);
		if (size % 256 == 0)
			usleep(100);
	}
	return nothing;
}

__attribute__((noinline)) static void keep(unsigned blocks)
{
	while (blocks--)
		memset(last = malloc(KEPT_BYTES), 1, KEPT_BYTES);
}

#ifdef SECOND
__attribute__((noinline)) static void keep_second(unsigned blocks)
{
	while (blocks--)
		memset(last = NAME(SECOND, malloc)(SECOND_BYTES), 1, SECOND_BYTES);
}
#endif

static uint64_t checksum(void)
{
	uint64_t sum = 0;

	for (const char *at = __executable_start; at < etext; at++)
		sum = sum * 31 + (unsigned char)*at;
	return sum;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	unsigned blocks;

	/* so that there is code that returns from a handler, as in any server */
	signal(SIGUSR1, fail == NULL ? SIG_IGN : SIG_DFL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&(pthread_t){0}, NULL, work, NULL);
	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "keep %u", &blocks) == 1) {
			keep(blocks);
#ifdef SECOND
			keep_second(blocks);
#endif
			target_say("done\n");
		} else {
			target_say("%016llx\n", (unsigned long long)checksum());
		}
	}
	return 0;
}
