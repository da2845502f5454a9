/* SPDX-License-Identifier: MIT */
/*
 * mappings/target.c - functions that map memory and unmap, move or replace parts of it, so that it
 * is known what is left of each.
 *
 * Commands: "keep N BYTES" (each function N times), "threads N" (that stay), "blocks N BYTES" (of
 * malloc, each a mapping), "brk N" and "end N" (the heap of brk by so many bytes, which may be
 * negative, by sbrk and by brk), "lock" (a page of memory), "free" (unmaps what was kept).
 */
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>

#include "../target.h"

#define KINDS 7
#define STACK_BYTES ((size_t)1 << 20)
#define KEPT_MAX 4096
#define TOO_MUCH ((size_t)1 << 46)

static char *kept[KINDS][KEPT_MAX];
static size_t count, size;

static char *checked(void *at)
{
	if (at == MAP_FAILED)
		abort();
	return at;
}

static void unmap(char *at, size_t bytes)
{
	if (munmap(at, bytes))
		abort();
}

#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)
#define ACCESS (PROT_READ | PROT_WRITE)

/* Maps in its caller's name. */
static inline __attribute__((always_inline)) char *map(size_t bytes, int protection)
{
	return checked(mmap(NULL, bytes, protection, ANONYMOUS, -1, 0));
}

__attribute__((noinline)) static char *map_all(void)
{
	return memset(map(size, ACCESS), 1, size);
}

__attribute__((noinline)) static char *map_half(void)
{
	char *at = map(size, ACCESS);

	unmap(at + size / 2, size / 2);
	return at;
}

/* A quarter goes out of the middle. */
__attribute__((noinline)) static char *map_ends(void)
{
	char *at = map(size, ACCESS);

	unmap(at + size / 4, size / 4);
	return at;
}

/* Maps half of it first. */
__attribute__((noinline)) static char *map_grown(void)
{
	return checked(mremap(map(size / 2, ACCESS), size / 2, size, MREMAP_MAYMOVE));
}

__attribute__((noinline)) static void cover(char *at, size_t bytes)
{
	if (mmap(at, bytes, ACCESS, ANONYMOUS | MAP_FIXED, -1, 0) != at)
		abort();
}

__attribute__((noinline)) static char *map_covered(void)
{
	char *at = map(size, PROT_NONE);

	cover(at, size / 4);
	return at;
}

/* Calls that fail change nothing. */
__attribute__((noinline)) static char *map_failing(void)
{
	char *at = map(size, ACCESS);

	if (mremap(at, size, TOO_MUCH, 0) != MAP_FAILED || !munmap(at + 1, size) ||
	    mmap(NULL, TOO_MUCH * 4, ACCESS, ANONYMOUS, -1, 0) != MAP_FAILED)
		abort();
	return at;
}

static void *run(void *out)
{
	*(char **)out = map(size, ACCESS);
	return NULL;
}

static pthread_t start(void *(*function)(void *), void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (pthread_attr_init(&attributes) || pthread_attr_setstacksize(&attributes, STACK_BYTES) ||
	    pthread_create(&thread, &attributes, function, argument))
		abort();
	return thread;
}

/* By a thread that ends. */
static char *map_by_thread(void)
{
	char *at;

	if (pthread_join(start(run, &at), NULL))
		abort();
	return at;
}

static char *(*const function[KINDS])(void) = {map_all,     map_half,    map_ends,     map_grown,
					       map_covered, map_failing, map_by_thread};

static void keep(void)
{
	for (size_t i = 0; i < count; i++)
		for (int kind = 0; kind < KINDS; kind++)
			kept[kind][i] = function[kind]();
	target_say("kept\n");
}

/* Where nothing is mapped, unmapping does nothing. */
static void give_back(void)
{
	for (size_t i = 0; i < count; i++)
		for (int kind = 0; kind < KINDS; kind++) {
			const size_t part = kind == 1 ? size / 2 : size;

			if (kind == 2) {
				unmap(kept[kind][i], size / 4);
				unmap(kept[kind][i] + size / 2, size / 2);
			} else {
				unmap(kept[kind][i], part);
			}
		}
	count = 0;
	target_say("freed\n");
}

static void *stay(void *unused)
{
	(void)unused;
	for (;;)
		pause();
}

/* The first may have the stack of one that has ended. */
static void start_threads(size_t threads)
{
	while (threads--)
		start(stay, NULL);
	target_say("started\n");
}

__attribute__((noinline)) static void allocate(size_t blocks, size_t bytes)
{
	static void *volatile last;

	while (blocks--)
		last = malloc(bytes);
	target_say("allocated\n");
}

/* The program's own calls, beside those of malloc. */
__attribute__((noinline)) static void move_brk(intptr_t bytes)
{
	void *end = sbrk(bytes);

	target_say("%s\n", end == (void *)-1 ? "failed" : "moved");
}

__attribute__((noinline)) static void move_end(intptr_t bytes)
{
	target_say("%s\n", brk((char *)sbrk(0) + bytes) ? "failed" : "moved");
}

int main(void)
{
	void *volatile first = malloc(1);
	char command[TARGET_COMMAND_MAX];
	size_t number, bytes;
	long change;

#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 131072);
#endif
	free(first); /* what malloc has of brk is there before the session */
	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "keep %zu %zu", &number, &bytes) == 2 && number <= KEPT_MAX) {
			count = number;
			size = bytes;
			keep();
		} else if (sscanf(command, "threads %zu", &number) == 1) {
			start_threads(number);
		} else if (sscanf(command, "blocks %zu %zu", &number, &bytes) == 2) {
			allocate(number, bytes);
		} else if (sscanf(command, "brk %ld", &change) == 1) {
			move_brk(change);
		} else if (sscanf(command, "end %ld", &change) == 1) {
			move_end(change);
		} else if (strcmp(command, "lock") == 0) {
			target_say("%s\n", mlock(kept, 1) ? "failed" : "locked");
		} else {
			give_back();
		}
	}
	return 0;
}
