/* SPDX-License-Identifier: MIT */
/*
 * target.c - an allocator on an array of its own, compiled with its callers: with -O2 gcc keeps
 * values across its calls in registers that any function may change, as this one does not.
 *
 * With PREFIXED functions whose names are mimalloc's, and which take other arguments, beside libc's
 * malloc; with COUNTED a cfree that frees nothing; with NAMESAKES functions of the program's own
 * that have names of the C library's, and take other arguments: global ones, or with LOCAL static
 * ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCKS 1000

struct pool {
	size_t used;
};
static struct pool pool;
static char arena[64u << 20];
static char *kept[BLOCKS];
static volatile int rounds;

#ifdef PREFIXED
__attribute__((noinline)) void *mi_malloc(struct pool *from, size_t size)
{
	const size_t at = from->used;

	from->used = (at + size + 15) & ~(size_t)15;
	return arena + at % (sizeof(arena) - 100000);
}
__attribute__((noinline)) long mi_strdup(const char *text)
{
	return text[0];
}
#define allocate(size) mi_malloc(&pool, size)
#elif defined(COUNTED)
static int count;
__attribute__((noinline)) void cfree(void *block)
{
	count -= block != NULL;
}
#define allocate(size) malloc(size)
#elif defined(NAMESAKES)
#ifdef LOCAL
#define OWN __attribute__((noipa)) static
#else
#define OWN __attribute__((noipa))
#endif
#ifndef VALLOC
#define VALLOC "valloc"
#endif
OWN void *pvalloc(struct pool *from, size_t size)
{
	const size_t at = from->used;

	from->used = (at + size + 15) & ~(size_t)15;
	return arena + at % (sizeof(arena) - 100000);
}
OWN void *own_valloc(struct pool *from, size_t size) __asm__(VALLOC);
OWN void *own_valloc(struct pool *from, size_t size)
{
	return pvalloc(from, size);
}
#define allocate(size) (free(malloc(size)), own_valloc(&pool, size))
#else
__attribute__((noinline)) void *malloc(size_t size)
{
	const size_t at = pool.used;

	pool.used = (at + size + 15) & ~(size_t)15;
	return arena + at % (sizeof(arena) - 100000);
}
__attribute__((noinline)) void free(void *block)
{
	__asm__ volatile("" : : "r"(block));
}
void *calloc(size_t count, size_t size)
{
	return malloc(count * size);
}
void *realloc(void *block, size_t size)
{
	(void)block;
	return malloc(size);
}
#define allocate(size) malloc(size)
#endif

/* Has more values than there are registers that calls preserve. */
__attribute__((noinline)) static unsigned long work(unsigned long a, unsigned long b,
						    unsigned long c, unsigned long d, char **keep)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < BLOCKS; i++) {
		*keep++ = allocate(100);
		a = a * 3 + b;
		b ^= c + i;
		c += d;
		d = d * 7 + a;
		sum += a ^ b ^ c ^ d;
	}
	return sum;
}

int main(void)
{
	const unsigned long wanted = work(1, 2, 3, 4, kept);

	for (rounds = 0; rounds < 300; rounds++) {
		if (work(1, 2, 3, 4, kept) != wanted) {
			write(1, "wrong\n", 6);
			return 1;
		}
#ifdef PREFIXED
		if (mi_strdup("\a") != 7)
			return 1;
#endif
#ifdef COUNTED
		for (int i = 0; i < BLOCKS; i++)
			cfree(kept[i]);
#endif
		usleep(10000);
	}
	write(1, "right\n", 6);
	return 0;
}
