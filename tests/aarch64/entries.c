/* SPDX-License-Identifier: MIT */
/*
 * entries.c - a program that allocates by each function of the allocator and maps memory, each by
 * its address, as far as it is asked to by SIGUSR1, and then writes a line to the file of its
 * argument. It ends at SIGTERM. With OWN_ALLOCATOR it has an allocator of its own. If it is
 * compiled with landing pads, it asks the kernel to check them, where the CPU can (PROT_BTI).
 *
 *     entries FILE
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUNDS 50
#define KEPT 3 /* blocks of a round, and mappings of all rounds */
#define MAPPED (64 << 10)

#ifndef PROT_BTI
#define PROT_BTI 0x10
#endif
#ifndef HWCAP2_BTI
#define HWCAP2_BTI (1 << 17)
#endif

#ifdef __ARM_FEATURE_BTI_DEFAULT
#define IS_GUARDED 1
#else
#define IS_GUARDED 0
#endif

extern char __executable_start[], etext[];

#ifdef OWN_ALLOCATOR

/*
 * Blocks are taken one after the other, with their size in front, and never given again. All
 * functions call some of libc, so that no caller knows which registers they change.
 */
#define HEAP (8 << 20)
static uint8_t *heap;
static size_t used;

static void *take(size_t alignment, size_t size)
{
	if (!heap)
		heap = mmap(NULL, HEAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	used = (used + 16 + alignment - 1) & ~(alignment - 1);
	if (size > HEAP - used)
		return NULL;
	memcpy(heap + used - sizeof(size), &size, sizeof(size));
	used += size;
	return heap + used - size;
}

void *malloc(size_t size)
{
	return take(16, size);
}

void free(void *block)
{
	if (block)
		memset((uint8_t *)block - sizeof(size_t), 0, sizeof(size_t));
}

void *calloc(size_t count, size_t size)
{
	return take(16, count * size);
}

void *realloc(void *old, size_t size)
{
	size_t before;
	void *block = take(16, size);

	if (!old || !block)
		return block;
	memcpy(&before, (uint8_t *)old - sizeof(before), sizeof(before));
	memcpy(block, old, before < size ? before : size);
	return block;
}

void *memalign(size_t alignment, size_t size)
{
	return take(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return take(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	*out = take(alignment, size);
	return *out ? 0 : 12;
}

#endif

static void *(*volatile by_malloc)(size_t) = malloc;
static void *(*volatile by_calloc)(size_t, size_t) = calloc;
static void *(*volatile by_realloc)(void *, size_t) = realloc;
static void *(*volatile by_memalign)(size_t, size_t) = memalign;
static void *(*volatile by_aligned_alloc)(size_t, size_t) = aligned_alloc;
static int (*volatile by_posix_memalign)(void **, size_t, size_t) = posix_memalign;
static void (*volatile by_free)(void *) = free;
static void *(*volatile by_mmap)(void *, size_t, int, int, int, off_t) = mmap;
static int (*volatile by_munmap)(void *, size_t) = munmap;

static void *keep[KEPT];
static unsigned long wrong;

/* 7 blocks, of 100 to 700 bytes, of which 3 are kept: 300, 500 and 700. */
static void allocate(void)
{
	void *block[7], *old;

	block[0] = by_malloc(100);
	block[1] = by_calloc(2, 100);
	block[2] = by_realloc(NULL, 300);
	block[3] = by_memalign(64, 400);
	block[4] = by_aligned_alloc(64, 500);
	wrong += by_posix_memalign(&block[5], 128, 600) != 0;
	old = by_malloc(600);
	memset(old, 7, 600);
	block[6] = by_realloc(old, 700);
	wrong += ((uint8_t *)block[6])[599] != 7 || ((uint8_t *)block[1])[199] != 0 ||
		 (uintptr_t)block[3] % 64 || (uintptr_t)block[5] % 128;
	for (int i = 0; i < 7; i++)
		memset(block[i], 1, 100);
	by_free(block[0]);
	by_free(block[1]);
	by_free(block[3]);
	by_free(block[5]);
	by_free(NULL);
	keep[0] = block[2];
	keep[1] = block[4];
	keep[2] = block[6];
}

/* Each mapping has MAPPED bytes, as the last page is mapped as a whole. */
static void map(void)
{
	const size_t asked = MAPPED - (size_t)sysconf(_SC_PAGESIZE) + 1;

	for (int i = 0; i <= KEPT; i++) {
		char *at = by_mmap(NULL, asked, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		*at = 1;
		if (i == KEPT)
			wrong += by_munmap(at, asked) != 0;
	}
}

int main(int argc, char **argv)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t code = (uintptr_t)__executable_start & ~(page - 1);
	FILE *report = argc > 1 ? fopen(argv[1], "w") : stdout;
	sigset_t set;
	int signal;

	if (IS_GUARDED && (getauxval(AT_HWCAP2) & HWCAP2_BTI) &&
	    mprotect((void *)code, ((uintptr_t)etext - code + page - 1) & ~(page - 1),
		     PROT_READ | PROT_EXEC | PROT_BTI))
		abort();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	do {
		fprintf(report, "wrong %lu\n", wrong);
		fflush(report);
		if (sigwait(&set, &signal))
			abort();
		for (int i = 0; signal == SIGUSR1 && i < ROUNDS; i++)
			allocate();
		if (signal == SIGUSR1)
			map();
	} while (signal != SIGTERM);
	fprintf(report, "end wrong %lu\n", wrong);
	fflush(report);
	_exit(0); /* what is called at an exit is the compiler's, without landing pads */
}
