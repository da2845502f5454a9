/* SPDX-License-Identifier: MIT */
/*
 * named_functions/target.c - a pool of its own, of which it is known what each caller has from it:
 * blocks, pools that are blocks of other pools, functions that call each other, take more arguments
 * than fit into registers, are left by a jump, or wait in a coroutine.
 *
 * Commands: "keep N BYTES" (each caller N times), "jump N BYTES" (N calls that are left by a jump,
 * then N that are not), "threads N BYTES" (each of eight threads, in a pool of its own), "park" (a
 * coroutine calls, and waits within the call), "resume" (it goes on), "drop" (the first pool goes).
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <ucontext.h>

#include "../target.h"

#define ROOM ((size_t)64 << 20)
#define KEPT_MAX 65536
#define EXTRA 100
#define THREADS 8
#ifdef __clang__
#define POOL __attribute__((noinline))
#else
#define POOL __attribute__((noipa)) /* one copy of each, which all callers call */
#endif

/* Memory that malloc gave, from the beginning on; nothing is used twice. */
struct pool {
	char *at, *end;
};

static struct pool *pool, *second;
static void *volatile extra; /* what malloc gave within a function of the pool */
static void *kept[KEPT_MAX];
static jmp_buf out;
static bool jumps, parks;
static ucontext_t outside, inside;
static _Alignas(16) char coroutine_stack[65536];

POOL struct pool *pool_create(void)
{
	char *memory = malloc(ROOM);
	struct pool *made = (void *)memory;

	if (!memory)
		abort();
	*made = (struct pool){memory + sizeof(*made), memory + ROOM};
	return made;
}

POOL void *pool_alloc(struct pool *from, size_t size)
{
	char *block = from->at;

	size = (size + 15) & ~(size_t)15;
	if (jumps)
		longjmp(out, 1);
	if (parks)
		swapcontext(&inside, &outside);
	if (from->at + size > from->end) {
		fputs("the pool is empty\n", stderr); /* and calls what its compiler did not see */
		abort();
	}
	from->at += size;
	return block;
}

/* They call the first one, and malloc. */
POOL void *pool_calloc(struct pool *from, size_t count, size_t size)
{
	void *block = pool_alloc(from, count * size);

	extra = malloc(EXTRA);
	return memset(block, 0, count * size);
}

POOL void *pool_realloc(struct pool *from, void *old, size_t size)
{
	void *block = size > ROOM ? NULL : pool_alloc(from, size);

	return block && old ? memcpy(block, old, 16) : block;
}

POOL int pool_store(void **out_block, struct pool *from, size_t size)
{
	*out_block = pool_alloc(from, size);
	return 7;
}

/* a to h: the last two are on the stack. */
POOL void *pool_many(struct pool *from, size_t size, double x, long c, long d, long e, long f,
		     long g, long h)
{
	if (x != 0.5 || c != 3 || d != 4 || e != 5 || f != 6 || g != 7 || h != 8)
		abort();
	return pool_alloc(from, size);
}

POOL void *pool_format(struct pool *from, size_t size, const char *format, ...)
{
	char *block = pool_alloc(from, size);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(block, size, format, arguments);
	va_end(arguments);
	if (strcmp(block, "1 2.5 3 4 5 6 7.25") != 0)
		abort();
	return block;
}

struct large {
	long word[40];
};

/* What hooks cannot pass on. */
POOL void *pool_by_value(struct pool *from, size_t size, struct large by_value)
{
	return pool_alloc(from, size + (size_t)by_value.word[39]);
}

#define EIGHT(c) \
	long c##1, long c##2, long c##3, long c##4, long c##5, long c##6, long c##7, long c##8

POOL void *pool_forty(struct pool *from, size_t size, EIGHT(a), EIGHT(b), EIGHT(c), EIGHT(d),
		      EIGHT(e))
{
	return pool_alloc(from, size + (size_t)(a1 + b1 + c1 + d1 + e8));
}

POOL void *pool_tagged(struct pool *from, size_t size)
{
	void **block = pool_alloc(from, size + sizeof(*block));

	*block = __builtin_return_address(0);
	return block;
}

POOL void pool_free(struct pool *from, void *block)
{
	if (!from || !block)
		fputs("nothing to free\n", stderr);
}

POOL void pool_destroy(struct pool *gone)
{
	free(gone);
}

#define CALLER __attribute__((noinline)) static void *

CALLER plain(size_t size)
{
	return memset(pool_alloc(pool, size), 1, size);
}

CALLER cleared(size_t size)
{
	return memset(pool_calloc(pool, 2, size / 2), 1, size);
}

CALLER half_freed(size_t size)
{
	static bool is_odd;
	void *block = pool_alloc(pool, size);

	if ((is_odd = !is_odd))
		pool_free(pool, block);
	return block;
}

CALLER grown(size_t size)
{
	void *block = pool_realloc(pool, pool_alloc(pool, size / 2), size);

	if (pool_realloc(pool, block, ROOM + 1))
		abort();
	return block;
}

CALLER stored(size_t size)
{
	void *block = NULL;

	if (pool_store(&block, pool, size) != 7)
		abort();
	return block;
}

CALLER many(size_t size)
{
	return memset(pool_many(pool, size, 0.5, 3, 4, 5, 6, 7, 8), 1, size);
}

CALLER formatted(size_t size)
{
	return memset(pool_format(pool, size, "%d %g %d %d %d %d %g", 1, 2.5, 3, 4, 5, 6, 7.25), 1,
		      size);
}

CALLER in_second(size_t size)
{
	return memset(pool_alloc(second, size), 1, size);
}

/* A pool that is a block of the first pool, and what lies in it. */
CALLER in_inner(size_t size)
{
	struct pool *inner = pool_alloc(pool, sizeof(*inner) + size + 64);

	*inner = (struct pool){(char *)(inner + 1), (char *)(inner + 1) + size + 48};
	return memset(pool_alloc(inner, size), 1, size);
}

static void *(*const callers[])(size_t) = {plain, cleared,   half_freed, grown,   stored,
					   many,  formatted, in_second,  in_inner};

static void keep(size_t count, size_t size)
{
	for (size_t i = 0; i < sizeof(callers) / sizeof(*callers); i++)
		for (size_t k = 0; k < count; k++)
			kept[(i * count + k) % KEPT_MAX] = callers[i](size);
}

/* Leaves the function by a jump each time, deep in the stack, and then calls it as usual. */
__attribute__((noinline)) static void jump(volatile size_t count, volatile size_t size)
{
	for (volatile size_t i = 0; i < count; i++) {
		jumps = true;
		if (!setjmp(out))
			plain(size);
		jumps = false;
	}
	for (volatile size_t i = 0; i < count; i++)
		plain(size);
}

static void coroutine(void)
{
	kept[0] = pool_alloc(pool, EXTRA);
}

static void park(void)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = coroutine_stack;
	inside.uc_stack.ss_size = sizeof(coroutine_stack);
	inside.uc_link = &outside;
	makecontext(&inside, coroutine, 0);
	parks = true;
	swapcontext(&outside, &inside);
	parks = false;
	kept[0] = NULL;
}

static void resume(void)
{
	swapcontext(&outside, &inside);
	if (!kept[0])
		abort();
}

static size_t thread_count, thread_size;

static void *spread(void *unused)
{
	struct pool *own = pool_create();

	for (size_t i = 0; i < thread_count; i++) {
		memset(pool_alloc(own, thread_size), 1, thread_size);
		memset(pool_many(own, thread_size, 0.5, 3, 4, 5, 6, 7, 8), 1, thread_size);
	}
	return unused;
}

static void spread_all(void)
{
	pthread_t thread[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, spread, NULL))
			abort();
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	size_t count, size;

	pool = pool_create();
	second = pool_create();
	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "keep %zu %zu", &count, &size) == 2) {
			keep(count, size);
		} else if (sscanf(command, "jump %zu %zu", &count, &size) == 2) {
			jump(count, size);
		} else if (sscanf(command, "threads %zu %zu", &thread_count, &thread_size) == 2) {
			spread_all();
		} else if (strcmp(command, "park") == 0) {
			park();
		} else if (strcmp(command, "resume") == 0) {
			resume();
		} else {
			pool_destroy(pool);
			pool = pool_create();
		}
		target_say("done\n");
	}
	return 0;
}
